#include "executor/container/driver/network-reap.h"

#include <string.h>

#include "base/mem.h"
#include "executor/container/decisions/network-sweep.h"
#include "executor/container/driver/client.h"
#include "executor/container/network/network-line.h"
#include "executor/container/network/network-lock.h"
#include "executor/container/network/nft-call.h"
#include "executor/container/plan-network.h"
#include "executor/rundir/record.h"
#include "executor/rundir/rundir.h"
#include "net/engine-network.h"
#include "net/network-name.h"
#include "net/nft-script.h"
#include "sys/clock.h"
#include "sys/log.h"

enum {
	CALL_TIMEOUT_MS = 30000,
	ANSWER_MAX = 1 << 20,
	NETWORKS_MAX = 10000,
	SCRIPT_MAX = 4 << 20,
};

static struct text out_of(const struct captured *c)
{
	return (struct text){str_text(&c->out), c->out.len};
}

/* As client_run(). */
static int call(const struct network_reap *r, const struct strv *words, struct captured *ret,
	struct error *err)
{
	struct client_call c = {
		.runtime = r->runtime,
		.env = r->env,
		.args = (const char *const *)words->v,
		.timeout_ms = CALL_TIMEOUT_MS,
		.stdout_max = ANSWER_MAX,
		.cancel_fd = -1,
	};
	int got = client_run(&c, ret, err);
	return got == 1 ? (int)(client_explain(&c, ret, "", err), 1) : got;
}

static int list(const struct network_reap *r, struct strv *ret, struct error *err)
{
	AUTO(strv) words = STRV_INIT(NETWORK_LINE_WORDS_MAX);
	AUTO(captured) answer = {.status = 0};
	struct text rest, line;

	network_line_list(r->home->id, &words);
	if (call(r, &words, &answer, err) != 0)
		return -1;
	rest = out_of(&answer);
	while (text_split(&rest, '\n', &line))
		if (text_trim(line).len > 0 &&
			strv_add_n(ret, text_trim(line).p, text_trim(line).len) < 0)
			break;
	return 0;
}

/* Not final, or its supervisor is at work: it removes its network itself. */
static bool goes_on(const struct rundir *run)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *record = rundir_read(run, RECORD_FILE, &err);

	return (record && !record_final(record)) || rundir_supervised(run, &err) == 1;
}

/* Perhaps counts, too. */
static bool live(const struct network_reap *r, const char *handle)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	int gone = rundir_look(r->home, handle, &run, &err);
	return gone < 0 || (gone == 0 && goes_on(&run));
}

/*
 * Networks that live runs say they have, whichever engine has them. -1: they are not all known, and
 * a table that seems to be without a network may hold a run.
 */
static int list_live(const struct network_reap *r, struct strv *ret, struct error *err)
{
	AUTO(strv) handles = STRV_INIT(RUNDIR_RUNS_MAX);

	if (rundir_handles(r->home, &handles, err) < 0)
		return -1;
	strv_foreach (handle, &handles) {
		auto_error struct error none = ERROR_INIT;
		AUTO(rundir) run = RUNDIR_INIT;
		int gone = rundir_look(r->home, *handle, &run, err);
		if (gone < 0)
			return -1;
		auto_json *note =
			gone == 0 && goes_on(&run) ? rundir_read(&run, NETWORK_FILE, &none) : NULL;
		const char *name = json_get_string(note, "name");
		if (name)
			(void)strv_add(ret, name);
	}
	return 0;
}

/* 1: it is used; 0; -1. */
static int used(const struct network_reap *r, const char *name, struct error *err)
{
	AUTO(strv) words = STRV_INIT(NETWORK_LINE_WORDS_MAX);
	AUTO(captured) answer = {.status = 0};

	network_line_users(name, &words);
	if (call(r, &words, &answer, err) != 0)
		return -1;
	return !text_blank(out_of(&answer));
}

static int inspect(const struct network_reap *r, const char *name, json_t **ret, struct error *err)
{
	AUTO(strv) words = STRV_INIT(NETWORK_LINE_WORDS_MAX);
	AUTO(captured) answer = {.status = 0};

	network_line_inspect(name, &words);
	if (call(r, &words, &answer, err) != 0)
		return -1;
	*ret = engine_network_parse(out_of(&answer), err);
	return *ret ? 0 : -1;
}

static int remove_network(const struct network_reap *r, const char *name, struct error *err)
{
	AUTO(strv) words = STRV_INIT(NETWORK_LINE_WORDS_MAX);
	AUTO(captured) answer = {.status = 0};

	network_line_remove(name, &words);
	int got = call(r, &words, &answer, err);
	if (got == 1 &&
		network_line_says_unknown((struct text){str_text(&answer.err), answer.err.len}))
		return 0;
	if (got == 0)
		(void)strv_add(r->names, name);
	return got == 0 ? 0 : -1;
}

/* A shared network: unless somebody is about to join it. */
static int remove_shared(const struct network_reap *r, const char *name, struct error *err)
{
	char table[NETWORK_TABLE_SIZE];

	network_name_table(name, table);
	auto_fd int lock = network_lock_alone(r->home->sockets_fd, table, err);
	if (lock < 0)
		return error_is(err, ERROR_NONE) ? 0 : -1;
	int used_by = used(r, name, err);
	if (used_by != 0)
		return used_by < 0 ? -1 : 0;
	if (remove_network(r, name, err) < 0)
		return -1;
	network_lock_remove(r->home->sockets_fd, table);
	return 0;
}

static int judge(const struct network_reap *r, const char *name, struct error *err)
{
	enum engine_network_kind kind = network_line_kind(r->runtime->engine);
	auto_json *document = NULL;

	if (inspect(r, name, &document, err) < 0)
		return -1;
	struct text handle = engine_network_label(kind, document, "cloop.handle");
	auto_free char *run = handle.p ? mem_strndup(handle.p, handle.len) : NULL;
	struct network_sweep_input in = {
		.managed = engine_network_label(kind, document, "cloop.managed"),
		.home = engine_network_label(kind, document, "cloop.home"),
		.created = engine_network_created(kind, document),
		.my_home = text_of(r->home->id),
		.run_live = run && live(r, run),
		.now_ns = clock_realtime_ns(),
	};
	if (!network_sweep_removes(&in))
		return 0;
	int is_used = used(r, name, err);
	in.used = is_used != 0;
	if (is_used < 0)
		return -1;
	if (!network_sweep_removes(&in))
		return 0;
	return run ? remove_network(r, name, err) : remove_shared(r, name, err);
}

/* ---- Tables ---- */

struct tables {
	const struct network_reap *r;
	struct strv names, networks; /* one of each */
};

static void collect(void *data, const struct nft_listed *t)
{
	struct tables *tables = data;
	struct text home, network;

	if (nft_listing_owner(t->comment, &home, &network) &&
		network_sweep_removes_table(t->comment, text_of(tables->r->home->id), false) &&
		strv_add_n(&tables->names, t->name.p, t->name.len) == 0)
		(void)strv_add_n(&tables->networks, network.p, network.len);
}

static int sweep_tables(struct tables *tables, const struct strv *there, struct error *err)
{
	AUTO(str) script = STR_INIT(SCRIPT_MAX);

	for (size_t i = 0; i < tables->names.n; i++)
		if (!strv_has(there, tables->networks.v[i]) &&
			nft_script_remove(text_of(tables->names.v[i]), &script, err) < 0)
			return -1;
	if (script.len == 0)
		return 0;
	if (nft_call_apply(&script, err) < 0)
		return -1;
	for (size_t i = 0; i < tables->names.n; i++)
		if (!strv_has(there, tables->networks.v[i]))
			network_lock_sweep(tables->r->home->sockets_fd, tables->names.v[i], true);
	return 0;
}

static void keep_first(struct error *first, struct error *one, int *result)
{
	if (*result == 0)
		error_move(first, one);
	*result = -1;
}

static void tables_done(struct tables *t)
{
	strv_done(&t->names);
	strv_done(&t->networks);
}

int network_reap_run(const struct network_reap *r, struct error *err)
{
	AUTO(tables)
	tables = {.r = r, .names = STRV_INIT(NETWORKS_MAX), .networks = STRV_INIT(NETWORKS_MAX)};
	AUTO(strv) networks = STRV_INIT(NETWORKS_MAX);
	AUTO(strv) there = STRV_INIT(RUNDIR_RUNS_MAX);
	auto_error struct error one = ERROR_INIT;
	int result = 0;

	if (r->runtime->rootless)
		return 0;
	/* Tables before networks: a table that is there has its network, unless that is gone. */
	if (nft_call_program() && nft_call_permitted() &&
		nft_call_tables(collect, &tables, &one) < 0)
		log_debug("%s", one.message);
	error_clear(&one);
	if (list(r, &networks, err) < 0)
		return -1;
	strv_foreach (name, &networks)
		if (judge(r, *name, &one) < 0)
			keep_first(err, &one, &result);
	if (list_live(r, &there, &one) < 0 || list(r, &there, &one) < 0 ||
		sweep_tables(&tables, &there, &one) < 0)
		keep_first(err, &one, &result);
	return result;
}

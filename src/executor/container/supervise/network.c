#include "executor/container/supervise/network.h"

#include <fcntl.h>
#include <net/if.h>

#include "base/mem.h"
#include "executor/container/failure.h"
#include "executor/container/network/network-line.h"
#include "executor/container/supervise/guard.h"
#include "executor/container/supervise/network-port.h"
#include "executor/container/supervise/network-shared.h"
#include "executor/container/supervise/supervisor.h"
#include "net/subnet-pool.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/log.h"

enum {
	CALL_TIMEOUT_MS = 60000,
	ANSWER_MAX = 1 << 20,
	REMOVE_ATTEMPTS = 3,
	REMOVE_AGAIN_MS = 1000,
};

void network_done(struct network *n)
{
	engine_call_cancel(n->call);
	loop_remove(n->again);
	host_ranges_done(&n->taken);
	engine_network_done(&n->made);
	if (n->lock_fd >= 0)
		close(n->lock_fd);
	*n = NETWORK_INIT;
}

bool network_busy(const struct supervisor *s)
{
	return s->network.call != NULL;
}

int network_write(struct supervisor *s, struct error *err)
{
	const struct network *n = &s->network;
	char proxy[ENDPOINT_TEXT_SIZE];
	auto_json *j = json_pack("{s:s, s:s, s:s, s:o, s:o, s:i, s:i, s:s, s:s, s:b}", "name",
		s->plan.network.name, "boot_id", clock_boot_id(), "engine",
		engine_text(s->plan.runtime.engine), "bridge", json_from_string(n->made.bridge),
		"gateway", json_from_string(n->made.gateway), "bits", (int)n->made.bits, "ifindex",
		(int)n->index, "fingerprint", n->fingerprint, "script", n->script, "lost", n->lost);

	if (n->has_proxy) {
		endpoint_text(&n->proxy, proxy);
		json_object_set_new(j, "proxy", json_string(proxy));
	}
	return rundir_write(&s->run, NETWORK_FILE, j, false, err);
}

/* ---- Making ---- */

static int call(
	struct supervisor *s, const struct strv *words, engine_call_fn *fn, struct error *err)
{
	s->network.call = supervisor_engine_line(s, words, CALL_TIMEOUT_MS, fn, err);
	return s->network.call ? 0 : -1;
}

/* False: the start was given up meanwhile, and what is left waits for this call. */
static bool goes_on(struct supervisor *s)
{
	s->network.call = NULL;
	if (s->phase == PHASE_OVER)
		remove_begin(s);
	return s->phase == PHASE_STARTING;
}

static int refused(struct supervisor *s, const char *what, const struct engine_answer *answer,
	struct error *err)
{
	AUTO(str) words = STR_INIT(ANSWER_MAX);
	AUTO(str) out = STR_INIT(1);
	struct failure f = {.engine = s->plan.runtime.engine,
		.call = text_of(what),
		.err = &words,
		.out = &out};

	str_add(&words, answer->stderr_text.p, answer->stderr_text.len);
	return failure_explain(&f, err);
}

/* The run's own proxy, if it has a session: at the host's address in its network. */
static int listen_at_gateway(struct supervisor *s, struct error *err)
{
	struct address gateway;

	if (!s->plan.egress.present || s->network.has_proxy)
		return 0;
	if (!s->network.made.gateway || !address_parse(text_of(s->network.made.gateway), &gateway))
		return error_set(err, ERROR_SANDBOX_EGRESS_UNAVAILABLE,
			"network %s has no gateway on this host that a proxy could listen on",
			s->plan.network.name);
	if (egress_listen(s, &gateway, &s->network.proxy, err) < 0)
		return -1;
	s->network.has_proxy = true;
	return 0;
}

/*
 * Comes back to fn while another run holds that part of the lock: 1. 0: held, or nobody else is on
 * this network.
 */
static int lock(
	struct supervisor *s, enum network_lock_part part, loop_timer_fn *fn, struct error *err)
{
	if (!s->plan.network.shared)
		return 0;
	int r = network_shared_lock(s, part, part == NETWORK_LOCK_TABLE, err);
	if (r == 1)
		s->network.again =
			loop_at(s->loop, clock_boottime_ms() + NETWORK_SHARED_AGAIN_MS, fn, s);
	return r;
}

static void finish(void *data)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;

	s->network.again = NULL;
	if (s->phase != PHASE_STARTING)
		return;
	int r = lock(s, NETWORK_LOCK_TABLE, finish, &err);
	if (r > 0)
		return;
	if (r == 0)
		r = listen_at_gateway(s, &err);
	if (r == 0)
		r = network_table_apply(s, &err);
	if (r == 0)
		r = network_write(s, &err);
	network_shared_unlock(s, NETWORK_LOCK_TABLE);
	if (r < 0) {
		start_fail(s, &err);
		return;
	}
	s->network.then(s);
}

/* Whose it is, then what the engine says of it. -1: foreign if its labels are not ours. */
static int take_network(struct supervisor *s, struct text out, struct error *err)
{
	const struct plan_network *p = &s->plan.network;
	enum engine_network_kind kind = network_line_kind(s->plan.runtime.engine);
	auto_json *document = engine_network_parse(out, err);
	struct engine_network_owner ours = {
		.home = s->home.id,
		.executor = s->plan.executor_id,
		.handle = p->shared ? NULL : s->plan.handle,
		.internal = p->kind == NETWORK_PLAN_INTERNAL,
	};

	if (!document)
		return -1;
	s->network.foreign = engine_network_check_owner(kind, document, &ours, err) < 0;
	if (s->network.foreign || engine_network_read(kind, document, &s->network.made, err) < 0)
		return -1;
	return 0;
}

static int take_made(struct supervisor *s, struct text out, struct error *err)
{
	if (take_network(s, out, err) < 0)
		return -1;
	if (fault_hit("network:made"))
		return error_set(err, ERROR_SHIM_FAILED, "fault injected at network:made");
	return network_write(s, err);
}

static int create(struct supervisor *s, struct error *err);

static void on_inspected(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;

	if (!goes_on(s))
		return;
	if (answer->exit_code != 0 && !s->network.tried &&
		network_line_says_unknown(answer->stderr_text)) {
		if (create(s, &err) < 0)
			start_fail(s, &err);
		return;
	}
	int r = answer->exit_code == 0 ? take_made(s, answer->out, &err)
				       : refused(s, "network inspect", answer, &err);
	if (r < 0)
		start_fail(s, &err);
	else
		finish(s);
}

static int inspect(struct supervisor *s, engine_call_fn *fn, struct error *err)
{
	AUTO(strv) words = STRV_INIT(NETWORK_LINE_WORDS_MAX);

	network_line_inspect(s->plan.network.name, &words);
	return call(s, &words, fn, err);
}

static void on_created(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	int r = -1;

	if (!goes_on(s))
		return;
	if (answer->exit_code == 0 || network_line_says_exists(answer->stderr_text))
		r = inspect(s, on_inspected, &err);
	else if (network_line_says_overlap(answer->stderr_text))
		r = create(s, &err);
	else
		refused(s, "network create", answer, &err);
	if (r < 0)
		start_fail(s, &err);
}

static int create(struct supervisor *s, struct error *err)
{
	const struct plan_network *p = &s->plan.network;
	AUTO(strv) words = STRV_INIT(NETWORK_LINE_WORDS_MAX);
	struct subnet subnet;
	struct network_line line = {
		.engine = s->plan.runtime.engine,
		.name = p->name,
		.home = s->home.id,
		.executor = s->plan.executor_id,
		.mode = egress_mode_text(p->mode),
		.handle = p->shared ? NULL : s->plan.handle,
		.internal = p->kind == NETWORK_PLAN_INTERNAL,
	};

	struct cidr_list taken = {s->network.taken.v, s->network.taken.n};
	if (!subnet_choice_next(&s->network.choice, taken, &subnet))
		return error_set(err, ERROR_EGRESS_SUBNET_EXHAUSTED,
			"no subnet of %s is free: others of this host's routes and networks have "
			"them",
			quoted_string(p->filter.subnet_pool ? p->filter.subnet_pool
							    : SUBNET_POOL_DEFAULT));
	s->network.tried = true;
	network_line_create(&line, &subnet, &words);
	return call(s, &words, on_created, err);
}

static int prepare(struct supervisor *s, struct error *err)
{
	const struct plan_network *p = &s->plan.network;
	struct subnet_pools pools = {p->filter.subnet_pool, p->filter.subnet_pool6, p->filter.ipv6};

	if (network_write(s, err) < 0)
		return -1;
	s->network.begun = true;
	if (fault_hit("network:recorded"))
		return error_set(err, ERROR_SHIM_FAILED, "fault injected at network:recorded");
	if (host_ranges_read(&s->network.taken, err) < 0)
		return -1;
	return subnet_choice_begin(&pools, p->shared ? SUBNET_SHARED_BITS : SUBNET_RUN_BITS,
		p->seed, &s->network.choice, err);
}

/* A shared network is mostly there. */
static void begin(void *data)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;

	s->network.again = NULL;
	if (s->phase != PHASE_STARTING)
		return;
	int r = lock(s, NETWORK_LOCK_USERS, begin, &err);
	if (r > 0)
		return;
	if (r == 0)
		r = prepare(s, &err);
	if (r == 0 && s->plan.network.shared && network_shared_known(s, &s->network.made)) {
		finish(s);
		return;
	}
	if (r == 0)
		r = s->plan.network.shared ? inspect(s, on_inspected, &err) : create(s, &err);
	if (r < 0)
		start_fail(s, &err);
}

void network_begin(struct supervisor *s, network_then *then)
{
	s->network.then = then;
	if (plan_network_made(&s->plan.network))
		begin(s);
	else
		then(s);
}

int network_joined(struct supervisor *s, struct error *err)
{
	auto_error struct error why = ERROR_INIT;
	const struct plan_network *p = &s->plan.network;

	if (p->kind != NETWORK_PLAN_INTERNAL)
		return 0;
	if (p->shared && s->network.made.bridge) {
		s->network.index = if_nametoindex(s->network.made.bridge);
		if (network_write(s, err) < 0)
			return -1;
	}
	network_shared_unlock(s, NETWORK_LOCK_USERS);
	if (s->network.made.gateway && network_port_address(s, &why) < 0) {
		if (s->network.has_proxy) {
			error_move(err, &why);
			return -1;
		}
		log_warning("%s", why.message);
		error_clear(&why);
	}
	if (p->shared && network_port_isolate(s, &why) < 0)
		record_warn(s->record, "neighbours_open",
			"sandboxes on this network can reach each other: %s", why.message);
	return 0;
}

/* ---- Removing ---- */

/* Somebody else's network can have its name: it is ours once the engine has told its labels. */
static bool may_remove(const struct supervisor *s)
{
	return !s->network.foreign && s->network.made.bridge;
}

static void conclude(struct supervisor *s, bool removed)
{
	bool shared = s->plan.network.shared;
	bool taken = removed && shared && network_table_taken(s);

	/* First the network, then the table: no network is ever left unfiltered. */
	if (removed && !taken)
		network_table_remove(s);
	else if (!removed && shared)
		network_table_leave(s);
	if (removed && shared && !taken)
		network_lock_remove(s->home.sockets_fd, s->plan.network.table_name);
	network_shared_unlock(s, NETWORK_LOCK_USERS);
	network_shared_unlock(s, NETWORK_LOCK_TABLE);
	/* Of a network that was never there, or is another's. */
	if (shared && !may_remove(s))
		network_lock_sweep(s->home.sockets_fd, s->plan.network.table_name, false);
	unlinkat(s->run.fd, NETWORK_FILE, 0);
	s->network.begun = false;
	fault_hit("network:removed");
	s->network.then(s);
}

static void remove_network(void *data);

static void on_removed(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	AUTO(str) words = STR_INIT(8192);

	s->network.call = NULL;
	if (answer->exit_code == 0 || network_line_says_unknown(answer->stderr_text)) {
		conclude(s, true);
		return;
	}
	/* The broker, or another run, is on it. */
	if (s->plan.network.shared) {
		conclude(s, false);
		return;
	}
	if (++s->network.attempts < REMOVE_ATTEMPTS) {
		s->network.again =
			loop_at(s->loop, clock_boottime_ms() + REMOVE_AGAIN_MS, remove_network, s);
		return;
	}
	text_escape(&words, answer->stderr_text, FAILURE_QUOTE_BYTES_MAX);
	log_warning("network %s is left to `cloop executor reap`: %s", s->plan.network.name,
		str_text(&words));
	conclude(s, false);
}

static void remove_network(void *data)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) words = STRV_INIT(NETWORK_LINE_WORDS_MAX);

	s->network.again = NULL;
	int r = lock(s, NETWORK_LOCK_TABLE, remove_network, &err);
	if (r > 0)
		return;
	/* Who is about to join keeps it. */
	if (r == 0 && s->plan.network.shared)
		r = network_shared_lock(s, NETWORK_LOCK_USERS, true, &err);
	network_line_remove(s->plan.network.name, &words);
	if (r == 0 && call(s, &words, on_removed, &err) == 0)
		return;
	if (!error_is(&err, ERROR_NONE))
		log_warning("%s", err.message);
	conclude(s, false);
}

static bool on_record(const struct supervisor *s)
{
	return faccessat(s->run.fd, NETWORK_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What the dead supervisor knew. */
static void restore(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;
	struct network *n = &s->network;
	auto_json *j = rundir_read(&s->run, NETWORK_FILE, &err);
	struct text fingerprint = json_get_text(j, "fingerprint"),
		    proxy = json_get_text(j, "proxy");

	n->begun = true;
	n->lost = json_get_bool(j, "lost", false);
	n->index = (unsigned)json_get_int(j, "ifindex", 0);
	n->made.bits = (unsigned)json_get_int(j, "bits", 0);
	mem_set_string(&n->made.bridge, json_get_string(j, "bridge"));
	mem_set_string(&n->made.gateway, json_get_string(j, "gateway"));
	n->has_proxy = proxy.p && endpoint_split(proxy, &n->proxy);
	if (fingerprint.len == SHA256_HEX_SIZE - 1)
		memcpy(n->fingerprint, fingerprint.p, SHA256_HEX_SIZE - 1);
	if (s->plan.network.shared)
		(void)network_lock_read_note(
			s->home.sockets_fd, s->plan.network.table_name, n->fingerprint);
	n->applied = n->fingerprint[0] != '\0';
}

static void on_identified(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;

	s->network.call = NULL;
	/* Nothing to remove, whoever makes one of that name now. */
	if (answer->exit_code != 0 && network_line_says_unknown(answer->stderr_text)) {
		conclude(s, !s->plan.network.shared);
		return;
	}
	int r = answer->exit_code == 0 ? take_network(s, answer->out, &err)
				       : refused(s, "network inspect", answer, &err);
	if (r < 0)
		log_warning("network %s is left: %s", s->plan.network.name, err.message);
	if (may_remove(s))
		remove_network(s);
	else
		conclude(s, false);
}

/* The start ended, or its supervisor, before the engine had told. */
static void identify(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	if (inspect(s, on_identified, &err) == 0)
		return;
	log_warning("%s", err.message);
	conclude(s, false);
}

void network_remove(struct supervisor *s, network_then *then)
{
	guard_end(s);
	loop_remove(s->network.again);
	s->network.again = NULL;
	s->network.then = then;
	if (plan_network_made(&s->plan.network) && !s->network.begun && on_record(s))
		restore(s);
	if (!s->network.begun)
		then(s);
	else if (may_remove(s))
		remove_network(s);
	else if (!s->network.foreign)
		identify(s);
	else
		conclude(s, false);
}

/* ---- Adopting ---- */

void network_adopt(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	if (!plan_network_made(&s->plan.network) || !on_record(s))
		return;
	restore(s);
	if (s->network.lost || !s->plan.network.table)
		return;
	/* Without an event it still looks every ten seconds. */
	if (guard_begin(s, &err) < 0)
		log_warning("%s", err.message);
	guard_arm(s);
}

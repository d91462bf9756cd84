/* cloop audit list, verify, export (cli.md). */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "executor/rundir/home.h"
#include "run/egress-events.h"
#include "store/audit.h"

enum { LIST_DEFAULT = 100, LIST_MAX = 1000000 };

/* 0, or 1 = this home has no store yet: no row was ever written. */
static int open_store(struct cli *c, struct store **ret, struct error *err)
{
	AUTO(home) home = HOME_INIT;

	if (cli_home_open_due(c, &home, err) < 0)
		return -1;
	return store_open_existing(home.path, ret, err);
}

/* The same, and what live runs' proxies told up to now is in the trail. */
static int open_store_live(struct cli *c, struct store **ret, struct error *err)
{
	AUTO(home) home = HOME_INIT;

	if (cli_home_open_due(c, &home, err) < 0)
		return -1;
	int r = store_open_existing(home.path, ret, err);
	if (r == 0)
		egress_events_import_live(*ret, &home);
	return r;
}

static json_t *read_payload(struct text payload)
{
	auto_error struct error ignored = ERROR_INIT;
	json_t *j = json_read(payload, payload.len, "payload", ERROR_IO, &ignored);

	return j ? j : json_from_bytes(payload);
}

static json_t *describe(const struct store_audit_row *r)
{
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "seq", (json_int_t)r->seq,
		"time", json_from_bytes(r->time), "action", json_from_bytes(r->action), "entity",
		json_from_bytes(r->entity), "actor", json_from_bytes(r->actor), "payload",
		read_payload(r->payload), "previous", json_from_bytes(r->previous), "hash",
		json_from_bytes(r->hash));
}

/* ASCII, so that lookalike letters show and nothing steers the terminal. Takes j. */
static char *ascii_line(json_t *j)
{
	char *line = json_dumps(j, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY);

	json_decref(j);
	return line ? line : mem_strdup("null");
}

static void print_ascii(json_t *j)
{
	auto_free char *line = ascii_line(j);

	puts(line);
}

static void print_row(void *data, const struct store_audit_row *r)
{
	auto_free char *payload = ascii_line(read_payload(r->payload));

	(void)data;
	printf("%lld %.*s %.*s %.*s %s\n", (long long)r->seq, (int)r->time.len, r->time.p,
		(int)r->action.len, r->action.p, (int)r->actor.len, r->actor.p, payload);
}

static void add(void *list, const struct store_audit_row *r)
{
	json_array_append_new(list, describe(r));
}

static void export_row(void *data, const struct store_audit_row *r)
{
	(void)data;
	print_ascii(describe(r));
}

static int run_list(struct cli *c, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	auto_json *list = json_array();
	uint64_t limit;

	if (cli_option_number(c, "--limit", LIST_MAX, LIST_DEFAULT, &limit, err) < 0)
		return -1;
	int r = open_store_live(c, &store, err);
	if (r == 0)
		r = store_audit_list(store, (int64_t)limit, c->json ? add : print_row, list, err);
	if (r < 0)
		return -1;
	if (c->json)
		print_ascii(json_pack("{s:O}", "rows", list));
	return CLI_OK;
}

static int run_export(struct cli *c, struct error *err)
{
	AUTO_PTR(store) store = NULL;

	int r = open_store_live(c, &store, err);
	if (r == 0)
		r = store_audit_list(store, 0, export_row, NULL, err);
	if (r < 0)
		return -1;
	if (fflush(stdout) != 0 || ferror(stdout))
		return error_set(err, ERROR_IO, "writing the audit trail");
	return CLI_OK;
}

static int run_verify(struct cli *c, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	struct store_audit_check check = {.rows = 0};

	int r = open_store(c, &store, err);
	if (r == 0)
		r = store_audit_verify(store, &check, err);
	if (r < 0)
		return -1;
	bool ok = check.bad_seq == 0;
	if (c->json)
		cli_print_json(json_pack("{s:b, s:I, s:o, s:o, s:o}", "ok", ok, "rows",
			(json_int_t)check.rows, "seq",
			ok ? json_null() : json_integer(check.bad_seq), "reason",
			json_from_string(check.why), "last_hash",
			json_from_string(check.last_hash[0] ? check.last_hash : NULL)));
	else if (ok)
		printf("%lld rows, the chain is whole\n", (long long)check.rows);
	else
		printf("broken at row %lld: %s\n", (long long)check.bad_seq, check.why);
	return ok ? CLI_OK : CLI_REFUSED;
}

static const struct option list_options[] = {
	{"--limit", "N", "only the last N rows (default 100; 0: all)", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_audit_list = {
	.group = "audit",
	.name = "list",
	.summary = "show the last rows of the audit trail",
	.flags = VERB_JSON | VERB_HOME,
	.options = list_options,
	.help = "Oldest first. What is not ASCII is shown escaped, so that lookalike letters "
		"show.\n"
		"What the egress proxies of live runs told up to now is taken over first.",
	.run = run_list,
};

const struct verb cmd_audit_verify = {
	.group = "audit",
	.name = "verify",
	.summary = "check the hash chain of the audit trail",
	.flags = VERB_JSON | VERB_HOME,
	.help = "Each row carries the SHA-256 of itself and of the row before. Exits with 1 when a "
		"row was changed, moved, removed or put in between, and names the first. The "
		"number and hash of the last row are noted in audit-head of cloop's home, so that "
		"rows that are gone from the end show, and an older copy of state.db; whoever puts "
		"a backup back on purpose removes that file.\n"
		"A trail that somebody with your rights computed anew does not show: for that, "
		"keep what audit export writes elsewhere.",
	.exits = "0 the chain is whole; 1 it is not, or cannot be read; 2 wrong usage",
	.run = run_verify,
};

const struct verb cmd_audit_export = {
	.group = "audit",
	.name = "export",
	.summary = "write the whole audit trail, a JSON object a line",
	.flags = VERB_JSON | VERB_HOME,
	.help = "Oldest first, with the hashes, for a place that this user cannot write to. What "
		"the "
		"egress proxies of live runs told up to now is taken over first.",
	.run = run_export,
};

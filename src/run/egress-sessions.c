#include "run/egress-sessions.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/rundir/record.h"
#include "run/egress-grants.h"
#include "store/audit.h"
#include "store/egress-session.h"
#include "sys/file.h"
#include "vault/time-json.h"

enum { POLICY_MAX = 1 << 20 };
#define NS INT64_C(1000000000)

/* ---- The grant, read again ---- */

struct terms {
	const struct two_clocks *now;
	bool active;
	int64_t end;
};

static void read_terms(void *data, const struct store_egress_grant *g)
{
	struct terms *t = data;

	t->active = egress_grants_state(g, t->now) == GRANT_ACTIVE;
	t->end = egress_grants_end(g, t->now);
}

/* 0: it holds; 1: it does not, or is gone. */
static int judge(struct store *s, const char *grant, struct terms *ret, struct error *err)
{
	int r = store_egress_grant_show(s, grant, read_terms, ret, err);

	return r < 0 ? -1 : !ret->active;
}

static int64_t deadline_of(int64_t window, const struct terms *t)
{
	int64_t end = t->now->realtime + window;

	return end < t->end ? end : t->end;
}

/* ---- Rows of the trail ---- */

struct row {
	char *id, *grant, *run, *project, *executor, *subject, *reason;
	int64_t opened_at, deadline, window, bytes_up, bytes_down;
	bool open;
};

static void row_done(struct row *r)
{
	free(r->id);
	free(r->grant);
	free(r->run);
	free(r->project);
	free(r->executor);
	free(r->subject);
	free(r->reason);
}

static char *copy(struct text t)
{
	return mem_strndup(t.p ? t.p : "", t.len);
}

static void read_row(void *data, const struct store_egress_session *e)
{
	auto_error struct error ignored = ERROR_INIT;
	auto_json *policy =
		json_read(e->policy, POLICY_MAX, "the policy", ERROR_STORE_CORRUPT, &ignored);
	struct row *r = data;

	*r = (struct row){
		.id = copy(e->id),
		.grant = copy(e->grant),
		.run = copy(e->run),
		.project = copy(e->project),
		.executor = copy(e->executor),
		.subject = copy(e->subject),
		.reason = copy(e->reason),
		.opened_at = e->opened_at,
		.deadline = e->deadline,
		.window = json_get_int(policy, "session_ttl_s", 0),
		.bytes_up = e->bytes_up,
		.bytes_down = e->bytes_down,
		.open = e->open,
	};
}

/* What every row of a session says; `more` is taken. */
static int audit(struct store *s, const char *action, const char *actor, const struct row *r,
	json_t *more, struct error *err)
{
	auto_json *payload = json_pack("{s:s, s:s, s:o, s:s, s:s, s:o, s:o, s:s}", "decision",
		"allow", "actor", actor, "subject", json_from_string(r->subject), "grant_id",
		r->grant, "session", r->id, "executor_id", json_from_string(r->executor), "project",
		json_from_string(r->project), "handle", r->run);
	struct store_audit_event event = {
		.action = action, .entity = "egress", .actor = actor, .payload = payload};

	json_object_update(payload, more);
	json_decref(more);
	return store_audit_add(s, &event, err);
}

/* ---- Opening ---- */

static int insert(struct store *s, const struct egress_session *session,
	const struct egress_sessions_who *who, const struct two_clocks *now, struct error *err)
{
	auto_json *policy = egress_grant_to_json(&session->grant);
	auto_free char *line = json_write(policy);
	struct store_egress_session e = {
		.id = text_of(session->id),
		.grant = text_of(session->grant.id),
		.token_sha256 = text_of(session->token_sha256),
		.run = text_of(who->run),
		.project = text_of(who->project),
		.executor = text_of(who->executor),
		.subject = text_of(session->grant.subject.text),
		.policy = text_of(line),
		.opened_at = now->realtime,
		.deadline = session->deadline_ns / NS,
		.boot_id = now->boot_id,
		.boottime_ms = now->boottime_ms,
	};
	AUTO(row) r = {.id = NULL};

	if (store_egress_session_add(s, &e, err) < 0)
		return -1;
	read_row(&r, &e);
	return audit(s, "egress.open", "system", &r,
		json_pack("{s:o}", "deadline", time_json(e.deadline)), err);
}

int egress_sessions_open(struct store *s, struct egress_session *session,
	const struct egress_sessions_who *who, const struct two_clocks *now, struct error *err)
{
	struct terms t = {.now = now};
	int ended = judge(s, session->grant.id, &t, err);

	if (ended > 0)
		return error_set(err, ERROR_GRANT_REVOKED,
			"egress grant %s was revoked or expired while the run was prepared",
			session->grant.id);
	if (ended < 0)
		return -1;
	session->deadline_ns = deadline_of(session->grant.session_ttl_s, &t) * NS;
	return insert(s, session, who, now, err);
}

/* ---- Renewing and closing ---- */

int egress_sessions_renew(struct store *s, const char *run, const struct two_clocks *now,
	json_t **ret, struct error *err)
{
	AUTO(row) r = {.id = NULL};
	struct terms t = {.now = now};
	int none = store_egress_session_show_run(s, run, read_row, &r, err);

	*ret = NULL;
	if (none != 0 || !r.open) {
		*ret = json_null();
		return none < 0 ? -1 : 0;
	}
	int ended = judge(s, r.grant, &t, err);
	if (ended != 0 || r.deadline <= now->realtime) {
		*ret = json_null();
		return ended < 0 ? -1 : 0;
	}
	int64_t deadline = deadline_of(r.window, &t);
	int still = store_egress_session_renew(s, r.id, deadline, err);
	if (still < 0 || (still == 0 && audit(s, "egress.renew", "system", &r,
						json_pack("{s:o}", "deadline", time_json(deadline)),
						err) < 0))
		return -1;
	int64_t end = deadline > r.deadline ? deadline : r.deadline;
	*ret = json_pack("{s:s, s:I, s:I}", "session", r.id, "deadline_ns", (json_int_t)end * NS,
		"expires_in_s", (json_int_t)(end - now->realtime));
	return 0;
}

int egress_sessions_close(struct store *s, const char *run, const char *reason, struct error *err)
{
	AUTO(row) r = {.id = NULL};
	int none = store_egress_session_show_run(s, run, read_row, &r, err);

	if (none != 0 || !r.open)
		return none < 0 ? -1 : 0;
	int over = store_egress_session_close(s, r.id, reason, err);
	if (over != 0)
		return over < 0 ? -1 : 0;
	return audit(s, "egress.close", "system", &r,
		json_pack("{s:I, s:I, s:s}", "bytes_up", (json_int_t)r.bytes_up, "bytes_down",
			(json_int_t)r.bytes_down, "reason", reason),
		err);
}

/* ---- What the proxy said ---- */

/* Rows that a proxy writes; egress.close is ours, with the counters of the end. */
static bool is_told(struct text action)
{
	static const char *const actions[] = {"egress.connect", "egress.request",
		"egress.unauthenticated", "egress.filter_lost", "egress.restore"};

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (text_is(action, actions[i]))
			return true;
	return false;
}

/* Of a proxy's row only what it alone knows; whose row it is, the ledger says. */
static void add_told(json_t *payload, const json_t *event)
{
	static const char *const keys[] = {"time", "decision", "verdict", "actor", "host", "port",
		"address", "bytes_up", "bytes_down", "reason", "lost", "count"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		json_t *value = json_object_get(event, keys[i]);
		if (value)
			json_object_set(payload, keys[i], value);
	}
}

static int import_line(struct store *s, const struct row *r, struct text line, struct error *err)
{
	auto_error struct error ignored = ERROR_INIT;
	auto_json *event = json_read(line, EGRESS_EVENT_MAX, "an event", ERROR_IO, &ignored);
	auto_free char *action = copy(json_get_text(event, "action"));
	json_t *told = json_object();

	if (!event || !is_told(text_of(action))) {
		json_decref(told);
		return 0;
	}
	add_told(told, event);
	return audit(s, action, "proxy", r, told, err);
}

static int import_lines(
	struct store *s, const struct rundir *run, const struct row *r, struct error *err)
{
	AUTO(str) bytes = STR_INIT(EGRESS_EVENTS_MAX + 1);
	struct text rest, line;

	/* As far as it could be read; a file that is too long is no reason to lose the rest. */
	(void)!file_read_at(run->fd, EGRESS_EVENTS_FILE, EGRESS_EVENTS_MAX, &bytes);
	rest = (struct text){str_text(&bytes), bytes.len};
	while (text_split(&rest, '\n', &line))
		if (line.len > 0 && import_line(s, r, line, err) < 0)
			return -1;
	return 0;
}

/* The counters of a run's record into the ledger: before the session is closed with them. */
static int count(struct store *s, const json_t *record, struct error *err)
{
	const json_t *told = json_object_get(record, "egress");
	const char *session = json_get_string(told, "session");

	return session ? store_egress_session_count(s, session, json_get_int(told, "bytes_up", 0),
				 json_get_int(told, "bytes_down", 0), err)
		       : 0;
}

int egress_sessions_settle(struct store *s, const struct home *home, const char *run,
	const char *reason, struct error *err)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO(rundir) dir = RUNDIR_INIT;
	auto_json *record = NULL;

	if (rundir_open(home, run, &dir, &ignored) == 0)
		record = rundir_read(&dir, RECORD_FILE, &ignored);
	return count(s, record, err) < 0 ? -1 : egress_sessions_close(s, run, reason, err);
}

int egress_sessions_import(
	struct store *s, const struct rundir *run, const json_t *record, struct error *err)
{
	const json_t *told = json_object_get(record, "egress");
	AUTO(row) r = {.id = NULL};

	if (!json_get_string(told, "session"))
		return 0;
	int none = store_egress_session_show_run(s, run->handle, read_row, &r, err);
	if (none != 0)
		return none < 0 ? -1 : 0;
	if (count(s, record, err) < 0 || import_lines(s, run, &r, err) < 0)
		return -1;
	const char *reason = json_get_string(told, "reason");
	return egress_sessions_close(s, run->handle, reason ? reason : "run_ended", err);
}

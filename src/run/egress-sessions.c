#include "run/egress-sessions.h"

#include "base/json.h"
#include "executor/rundir/record.h"
#include "run/egress-events.h"
#include "run/egress-grants.h"
#include "vault/time-json.h"

enum { MS = 1000, LOST_MAX = 1000 };

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

/* Seconds that a session of this window lives from now on, if it is not renewed. */
static int64_t life_of(int64_t window, const struct terms *t)
{
	int64_t left = t->end - t->now->realtime;

	return window < left ? window : left;
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
		.deadline = now->realtime + (session->deadline_ms - now->boottime_ms) / MS,
		.boot_id = now->boot_id,
		.boottime_ms = now->boottime_ms,
	};
	AUTO(egress_row) r = {.id = NULL};

	if (store_egress_session_add(s, &e, err) < 0)
		return -1;
	egress_row_read(&r, &e);
	return egress_row_audit(s, &r, "egress.open", "system",
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
	session->deadline_ms = now->boottime_ms + life_of(session->grant.session_ttl_s, &t) * MS;
	return insert(s, session, who, now, err);
}

/* ---- Renewing and closing ---- */

/* Moves the end of a session that has so much left; how much it has then. -1 + err. */
static int64_t prolong(struct store *s, const struct egress_row *r, const struct terms *t,
	int64_t left_ms, struct error *err)
{
	int64_t wanted_ms = life_of(r->window, t) * MS;
	int64_t more = wanted_ms > left_ms ? (wanted_ms - left_ms) / MS : 0;
	int moved = store_egress_session_renew(s, r->id, r->deadline + more, err);

	left_ms += more * MS;
	if (moved != 0)
		return moved < 0 ? -1 : left_ms;
	/* For people, who read their own clock. */
	json_t *told = json_pack("{s:o}", "deadline", time_json(t->now->realtime + left_ms / MS));
	return egress_row_audit(s, r, "egress.renew", "system", told, err) < 0 ? -1 : left_ms;
}

int egress_sessions_renew(struct store *s, const char *run, const struct two_clocks *now,
	json_t **ret, struct error *err)
{
	AUTO(egress_row) r = {.id = NULL};
	struct terms t = {.now = now};
	int none = store_egress_session_show_run(s, run, egress_row_read, &r, err);

	*ret = NULL;
	if (none != 0 || !r.open) {
		*ret = json_null();
		return none < 0 ? -1 : 0;
	}
	int ended = judge(s, r.grant, &t, err);
	int64_t left_ms = two_clocks_left_ms(&r.opened, r.deadline, now);
	if (ended != 0 || left_ms <= 0) {
		*ret = json_null();
		return ended < 0 ? -1 : 0;
	}
	left_ms = prolong(s, &r, &t, left_ms, err);
	if (left_ms < 0)
		return -1;
	json_int_t deadline_ms = now->boottime_ms + left_ms, left_s = left_ms / MS;
	*ret = json_pack("{s:s, s:I, s:I}", "session", r.id, "deadline_boottime_ms", deadline_ms,
		"expires_in_s", left_s);
	return 0;
}

int egress_sessions_close(struct store *s, const char *run, const char *reason, struct error *err)
{
	AUTO(egress_row) r = {.id = NULL};
	int none = store_egress_session_show_run(s, run, egress_row_read, &r, err);

	if (none != 0 || !r.open)
		return none < 0 ? -1 : 0;
	int over = store_egress_session_close(s, r.id, reason, err);
	if (over != 0)
		return over < 0 ? -1 : 0;
	return egress_row_audit(s, &r, "egress.close", "system",
		json_pack("{s:I, s:I, s:s}", "bytes_up", (json_int_t)r.bytes_up, "bytes_down",
			(json_int_t)r.bytes_down, "reason", reason),
		err);
}

int egress_sessions_close_lost_tests(
	struct store *s, const struct two_clocks *now, struct error *err)
{
	AUTO(strv) lost = STRV_INIT(LOST_MAX);

	if (store_egress_session_list_lost_tests(s, now->realtime, &lost, err) < 0)
		return -1;
	strv_foreach (run, &lost)
		if (egress_sessions_close(s, *run, "expired", err) < 0)
			return -1;
	return 0;
}

/* ---- The end ---- */

/* The counters of a run's record into the ledger: before the session is closed with them. */
static int count(struct store *s, const json_t *record, struct error *err)
{
	const json_t *told = json_object_get(record, "egress");
	const char *session = json_get_string(told, "session");

	return session ? store_egress_session_count(s, session, json_get_int(told, "bytes_up", 0),
				 json_get_int(told, "bytes_down", 0), err)
		       : 0;
}

/* The events that are not in the trail yet, before the row of the end. */
static int take_rest(struct store *s, const struct rundir *run, bool whole, struct error *err)
{
	AUTO(egress_row) r = {.id = NULL};
	int none = store_egress_session_show_run(s, run->handle, egress_row_read, &r, err);

	if (none != 0)
		return none < 0 ? -1 : 0;
	return egress_events_take(s, run, &r, whole, err);
}

int egress_sessions_settle(struct store *s, const struct home *home, const char *run,
	const char *reason, struct error *err)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO(rundir) dir = RUNDIR_INIT;
	auto_json *record = NULL;

	if (rundir_open(home, run, &dir, &ignored) == 0)
		record = rundir_read(&dir, RECORD_FILE, &ignored);
	if (record &&
		(count(s, record, err) < 0 || take_rest(s, &dir, record_final(record), err) < 0))
		return -1;
	return egress_sessions_close(s, run, reason, err);
}

int egress_sessions_import(
	struct store *s, const struct rundir *run, const json_t *record, struct error *err)
{
	const json_t *told = json_object_get(record, "egress");

	if (!json_get_string(told, "session"))
		return 0;
	if (count(s, record, err) < 0 || take_rest(s, run, true, err) < 0)
		return -1;
	const char *reason = json_get_string(told, "reason");
	return egress_sessions_close(s, run->handle, reason ? reason : "run_ended", err);
}

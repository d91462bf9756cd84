/*
 * A stored revocation carried out. Runs are told one after the other, but supervisors that died are
 * started for many at once, since each needs a moment until it listens. Before a run is told, the
 * audit trail says that it will be; what it answered is written before the next batch is told, so
 * that a crash repeats no more than one batch, which a run takes as done.
 */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/rundir/record.h"
#include "executor/rundir/rundir.h"
#include "executor/rundir/stage-wipe.h"
#include "run/egress-events.h"
#include "run/egress-sessions.h"
#include "run/follow.h"
#include "run/request.h"
#include "run/revoke.h"
#include "store/audit.h"
#include "store/lease.h"
#include "store/query.h"
#include "store/revocation.h"
#include "sys/clock.h"
#include "sys/fault.h"

enum { BATCH = 32, BINDINGS_MAX = 256, ANSWER_MS = 60000, WAIT_LEAST_MS = 50 };

#define ADVICE "rotate the credential at its source: a run may still have it"

struct sending {
	const struct revoke_ground *g;
	int64_t number;
	json_t *order; /* lease, grant, action, reason, actor, state */
	json_t *runs;  /* as in the answer */
	size_t unrecorded;
};

/* ---- Reading ---- */

static void read_order(void *data, const struct store_revocation *r)
{
	*(json_t **)data =
		json_pack("{s:o, s:o, s:o, s:o, s:o}", "lease", json_from_bytes(r->lease), "grant",
			json_from_bytes(r->grant), "action", json_from_bytes(r->action), "reason",
			json_from_bytes(r->reason), "actor", json_from_bytes(r->actor));
}

static void read_run(void *data, const struct store_revocation_run *r)
{
	json_array_append_new(data,
		json_pack("{s:o, s:o, s:o, s:o, s:o}", "run", json_from_bytes(r->run), "lease",
			json_from_bytes(r->lease), "result", json_from_bytes(r->result), "effect",
			json_from_bytes(r->effect), "message", json_from_bytes(r->message)));
}

static bool is(const json_t *object, const char *key, const char *word)
{
	return text_is(json_get_text(object, key), word);
}

/* ---- Runs that hold it and are not on record ---- */

static bool concerns(const struct sending *s, const json_t *lease)
{
	const char *wanted = json_get_string(s->order, "lease");
	const char *grant = json_get_string(s->order, "grant");
	size_t i;
	json_t *binding;

	if (!json_is_object(lease) || (wanted[0] && !is(lease, "id", wanted)))
		return false;
	if (!grant[0])
		return true;
	json_array_foreach(json_object_get(lease, "bindings"), i,
		binding) if (is(binding, "grant", grant)) return true;
	return false;
}

static bool listed(const struct sending *s, const char *run)
{
	size_t i;
	json_t *one;

	json_array_foreach(s->runs, i, one) if (is(one, "run", run)) return true;
	return false;
}

/* One run directory: its plan names leases and grants, no values. */
static int look_at_run(struct sending *s, const char *handle, struct error *err)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	if (listed(s, handle))
		return 0;
	int gone = rundir_look(s->g->home, handle, &run, err);
	if (gone != 0)
		return gone < 0 ? -1 : 0;
	auto_json *record = rundir_read(&run, RECORD_FILE, &ignored);
	if (!record || record_final(record))
		return 0;
	auto_json *plan = rundir_read(&run, REQUEST_FILE, &ignored);
	const json_t *lease = json_object_get(plan, "lease");
	if (!concerns(s, lease))
		return 0;
	struct store_revocation_run row = {.revocation = s->number,
		.lease = json_get_text(lease, "id"),
		.run = text_of(handle),
		.result = TEXT("pending"),
		.effect = TEXT(""),
		.message = TEXT("")};
	if (store_revocation_add_run(s->g->store, &row, err) < 0)
		return -1;
	read_run(s->runs, &row);
	return 0;
}

static int find_unlisted(struct sending *s, struct error *err)
{
	AUTO(strv) handles = STRV_INIT(RUNDIR_RUNS_MAX);

	if (rundir_handles(s->g->home, &handles, err) < 0)
		return -1;
	strv_foreach (handle, &handles)
		if (look_at_run(s, *handle, err) < 0)
			return -1;
	return 0;
}

static void see_lease(void *data, const struct store_lease *l)
{
	(void)data;
	(void)l;
}

static int count_unrecorded(struct sending *s, struct error *err)
{
	size_t i;
	json_t *run;

	json_array_foreach(s->runs, i, run)
	{
		int r = store_lease_show_run(
			s->g->store, json_get_string(run, "run"), see_lease, NULL, err);
		if (r < 0)
			return -1;
		s->unrecorded += r > 0;
	}
	return 0;
}

/* ---- Time ---- */

static bool time_is_up(const struct sending *s)
{
	return s->g->until && clock_boottime_ms() >= s->g->until;
}

/* For one run: half of what is left, so that one that hangs leaves some. 0 = as long as it takes.
 */
static int64_t time_for_one(const struct sending *s)
{
	int64_t half = (s->g->until - clock_boottime_ms()) / 2;

	if (s->g->until == 0)
		return 0;
	return half > WAIT_LEAST_MS ? half : WAIT_LEAST_MS;
}

/* ---- One run ---- */

struct bindings {
	const char *grant; /* "" = all */
	struct revocation_binding v[BINDINGS_MAX];
	char kinds[BINDINGS_MAX][32];
	size_t n;
};

static void read_binding(void *data, const struct store_holding *h)
{
	struct bindings *b = data;

	if ((b->grant[0] && !text_is(h->grant, b->grant)) || b->n == BINDINGS_MAX)
		return;
	snprintf(b->kinds[b->n], sizeof(b->kinds[0]), "%.*s", (int)h->kind.len, h->kind.p);
	b->v[b->n] = (struct revocation_binding){
		.kind = text_of(b->kinds[b->n]), .has_env = !text_is(h->env_keys, "[]")};
	b->n++;
}

/* What is asked of a run: scrub becomes kill where what it got cannot be wiped. */
static json_t *make_request(struct sending *s, const json_t *run, struct error *err)
{
	auto_free struct bindings *b = mem_alloc(sizeof(*b));
	const char *lease = json_get_string(run, "lease");
	int wanted = revocation_action_from_text(json_get_text(s->order, "action"));

	b->grant = json_get_string(s->order, "grant");
	if (store_lease_holdings(s->g->store, lease, read_binding, b, err) < 0)
		return NULL;
	enum revocation_action action = revocation_action(
		b->v, b->n, wanted < 0 ? REVOCATION_SCRUB : (enum revocation_action)wanted);
	json_t *request = json_pack("{s:s, s:s, s:O}", "lease", lease, "action",
		revocation_action_text(action), "reason", json_object_get(s->order, "reason"));
	if (b->grant[0])
		json_object_set_new(request, "grant", json_string(b->grant));
	int64_t wait = time_for_one(s);
	if (wait > 0)
		json_object_set_new(request, "wait_ms", json_integer(wait));
	return request;
}

static void answer(json_t *run, const char *result, const char *effect, const char *message)
{
	json_object_set_new(run, "result", json_string(result));
	json_object_set_new(run, "effect", json_from_string(effect ? effect : ""));
	json_object_set_new(run, "message", json_from_string(message ? message : ""));
}

/* Where no executor can be asked: the supervisor, by its socket. */
static int tell_directly(struct sending *s, const struct rundir *dir, const json_t *request,
	json_t **ret, struct error *err)
{
	auto_json *call = json_deep_copy(request);
	int64_t wait = json_get_int(call, "wait_ms", 0);

	json_object_del(call, "wait_ms");
	json_object_set_new(call, "op", json_string("revoke"));
	if (request_ask(s->g->home, dir, call, wait > 0 ? wait : ANSWER_MS, ret, err) < 0)
		return -1;
	return *ret ? 0 : stage_wipe_run(dir, err);
}

static int tell(struct sending *s, const char *handle, const json_t *request, json_t **ret,
	struct error *err)
{
	AUTO(rundir) dir = RUNDIR_INIT;
	auto_error struct error unknown = ERROR_INIT;
	const struct executor *e = NULL;

	if (rundir_open(s->g->home, handle, &dir, err) < 0)
		return -1;
	auto_json *record = rundir_read(&dir, RECORD_FILE, err);
	const char *id = json_get_string(record, "executor_id");
	error_clear(err);
	if (s->g->executors && id)
		e = executor_list_find(s->g->executors, id, &unknown);
	if (e && !executor_unavailable_reason(e))
		return executor_revoke_lease(e, s->g->home->path, handle, request, ret, err);
	return tell_directly(s, &dir, request, ret, err);
}

/* A directory that is gone went after its stage and its container. */
static void settle_failure(json_t *run, const struct error *err)
{
	if (error_is(err, ERROR_HANDLE_NOT_FOUND))
		answer(run, "done", "none", "the run is gone");
	else
		answer(run, "unreachable", "", err->message);
}

static void settle(json_t *run, const json_t *got)
{
	int result = revocation_run_from_text(json_get_text(got, "outcome"));

	/* An ended run answers nothing more. */
	if (!got)
		result = REVOCATION_DONE;
	answer(run, revocation_run_text(result < 0 ? REVOCATION_FAILED : result),
		json_get_string(got, "effect"), json_get_string(got, "reason"));
}

static int tell_run(struct sending *s, json_t *run, struct error *err)
{
	auto_error struct error why = ERROR_INIT;
	auto_json *got = NULL;

	if (time_is_up(s)) {
		if (is(run, "result", "pending"))
			answer(run, "unreachable", "", "there was no time to tell it");
		return 0;
	}
	auto_json *request = make_request(s, run, err);
	if (!request)
		return -1;
	if (tell(s, json_get_string(run, "run"), request, &got, &why) < 0)
		settle_failure(run, &why);
	else
		settle(run, got);
	return 0;
}

/* ---- On record ---- */

static int audit(struct sending *s, const char *action, const json_t *run, struct error *err)
{
	auto_free char *actor = mem_strdup(json_get_string(s->order, "actor"));
	auto_json *payload = json_pack("{s:O, s:O, s:O, s:O, s:O}", "lease",
		json_object_get(run, "lease"), "handle", json_object_get(run, "run"), "grant",
		json_object_get(s->order, "grant"), "action", json_object_get(s->order, "action"),
		"reason", json_object_get(s->order, "reason"));
	struct store_audit_event event = {
		.action = action, .entity = "lease", .actor = actor, .payload = payload};

	if (strcmp(action, "lease.revoke_sent") != 0) {
		json_object_set(payload, "outcome", json_object_get(run, "result"));
		json_object_set(payload, "effect", json_object_get(run, "effect"));
		json_object_set(payload, "message", json_object_get(run, "message"));
	}
	return store_audit_add(s->g->store, &event, err);
}

/* Told for the first time: the trail says so before it is. */
static int announce(struct sending *s, json_t *const *batch, size_t n, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;

	if (query_begin(s->g->store, &t, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (is(batch[i], "result", "pending") &&
			audit(s, "lease.revoke_sent", batch[i], err) < 0)
			return -1;
	return query_commit(&t, err);
}

static int record_run(struct sending *s, const json_t *run, bool changed, struct error *err)
{
	bool done = is(run, "result", "done");
	struct store_revocation_run row = {
		.revocation = s->number,
		.run = json_get_text(run, "run"),
		.result = json_get_text(run, "result"),
		.effect = json_get_text(run, "effect"),
		.message = json_get_text(run, "message"),
	};

	/* Another command was faster, and has put on record all that follows. */
	int over = store_revocation_set_run(s->g->store, &row, err);
	if (over != 0)
		return over < 0 ? -1 : 0;
	if (done && store_lease_take_back(s->g->store, json_get_string(run, "lease"),
			    json_get_string(s->order, "grant"), err) < 0)
		return -1;
	const char *grant = json_get_string(s->order, "grant");
	if (done && (!grant[0] || text_starts(text_of(grant), "egress_")) &&
		egress_sessions_settle(
			s->g->store, s->g->home, json_get_string(run, "run"), "revoked", err) < 0)
		return -1;
	if (!changed)
		return 0;
	return audit(s, done ? "lease.revoke_acked" : "lease.revoke_failed", run, err);
}

/* ---- All of them ---- */

static void adopt(struct sending *s, json_t *const *batch, size_t n)
{
	stage_sweep(s->g->home);
	for (size_t i = 0; i < n; i++) {
		auto_error struct error ignored = ERROR_INIT;
		AUTO(rundir) dir = RUNDIR_INIT;
		if (rundir_open(s->g->home, json_get_string(batch[i], "run"), &dir, &ignored) == 0)
			(void)!follow_adopt(s->g->home, &dir, NULL, &ignored);
	}
}

/* Before the one transaction, which takes what is missing, and can be short then. */
static void import_events(struct sending *s, json_t *const *batch, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		auto_error struct error ignored = ERROR_INIT;
		(void)!egress_events_import(
			s->g->store, s->g->home, json_get_string(batch[i], "run"), &ignored);
	}
}

static int carry_out_batch(struct sending *s, json_t *const *batch, size_t n, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	AUTO(strv) before = STRV_INIT(BATCH);

	if (time_is_up(s))
		return 0;
	if (announce(s, batch, n, err) < 0)
		return -1;
	fault_hit("revoke:announced");
	adopt(s, batch, n);
	for (size_t i = 0; i < n; i++) {
		(void)!strv_add(&before, json_get_string(batch[i], "result"));
		if (tell_run(s, batch[i], err) < 0)
			return -1;
	}
	fault_hit("revoke:told");
	import_events(s, batch, n);
	if (query_begin(s->g->store, &t, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (record_run(s, batch[i], !is(batch[i], "result", before.v[i]), err) < 0)
			return -1;
	return query_commit(&t, err);
}

static int carry_out(struct sending *s, struct error *err)
{
	json_t *batch[BATCH];
	size_t i, n = 0;
	json_t *run;

	json_array_foreach(s->runs, i, run)
	{
		if (is(run, "result", "done"))
			continue;
		batch[n++] = run;
		if (n < BATCH)
			continue;
		if (carry_out_batch(s, batch, n, err) < 0)
			return -1;
		n = 0;
	}
	return n > 0 ? carry_out_batch(s, batch, n, err) : 0;
}

/* By what is on record, which another command may have added to. */
static int settle_state(struct sending *s, json_t **ret, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	auto_json *runs = json_array();

	if (query_begin(s->g->store, &t, err) < 0 ||
		store_revocation_runs(s->g->store, s->number, read_run, runs, err) < 0)
		return -1;
	size_t n = json_array_size(runs), i;
	auto_free enum revocation_run *results = mem_alloc((n + 1) * sizeof(*results));
	json_t *run;

	json_array_foreach(runs, i, run)
	{
		int r = revocation_run_from_text(json_get_text(run, "result"));
		results[i] = r < 0 ? REVOCATION_PENDING : (enum revocation_run)r;
	}
	const char *state = revocation_state_text(revocation_state(results, n, s->unrecorded));
	if (store_revocation_set_state(s->g->store, s->number, state, n > 0, err) < 0 ||
		query_commit(&t, err) < 0)
		return -1;
	*ret = json_pack("{s:O, s:O, s:O, s:s, s:b, s:O}", "grant",
		json_object_get(s->order, "grant"), "lease", json_object_get(s->order, "lease"),
		"action", json_object_get(s->order, "action"), "state", state, "known", n > 0,
		"runs", runs);
	if (strcmp(state, "failed") == 0)
		json_object_set_new(*ret, "advice", json_string(ADVICE));
	return 0;
}

int revoke_carry_out(const struct revoke_ground *g, int64_t number, json_t **ret, struct error *err)
{
	auto_json *order = NULL;
	auto_json *runs = json_array();
	struct sending s = {.g = g, .number = number, .runs = runs};

	fault_hit("revoke:stored");
	int r = store_revocation_show(g->store, number, read_order, &order, err);
	if (r > 0)
		return error_set(
			err, ERROR_INTERNAL, "there is no revocation %lld", (long long)number);
	s.order = order;
	if (r < 0 || store_revocation_runs(g->store, number, read_run, runs, err) < 0 ||
		find_unlisted(&s, err) < 0 || carry_out(&s, err) < 0 ||
		count_unrecorded(&s, err) < 0)
		return -1;
	return settle_state(&s, ret, err);
}

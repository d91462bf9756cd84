#include "executor/container/supervise/extend.h"

#include <string.h>

#include "base/mem.h"
#include "executor/container/supervise/mask.h"
#include "executor/container/supervise/revoke.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/log.h"
#include "sys/program.h"

enum {
	EVERY_MS = 300000,
	AGAIN_MS = 30000, /* after an answer that cannot be read */
	ANSWER_MS = 60000,
	ANSWER_MAX = 256 << 10,
	HURRY = 200, /* of the fault extend:soon */
	MS = 1000,
	END_MAX_S = 10 * 365 * 86400,
};
#define NS_PER_S INT64_C(1000000000)

/* On record: the end of the lease as it was answered last, in boottime. */
#define ENDS "lease_ends_boottime_ms"

static void ask(void *data);
static void at_end(void *data);

static void ask_in(struct supervisor *s, int64_t ms)
{
	struct extension *x = &s->extension;

	loop_remove(TAKE_PTR(x->timer));
	x->timer = loop_at(s->loop, clock_boottime_ms() + ms / x->pace, ask, s);
}

static void arm_end(struct supervisor *s)
{
	struct extension *x = &s->extension;

	loop_remove(TAKE_PTR(x->end_timer));
	x->end_timer = loop_at(s->loop, x->ends_at, at_end, s);
}

static bool over(const struct supervisor *s)
{
	return clock_boottime_ms() >= s->extension.ends_at;
}

/* Boottime in so many seconds; an end that is far away is as good as none. */
static int64_t end_in(int64_t left)
{
	return clock_boottime_ms() + (left < 0 ? 0 : left < END_MAX_S ? left : END_MAX_S) * MS;
}

/* Grants of which that was acted upon, and the lease's own id. */
static json_t *ended(struct supervisor *s)
{
	json_t *supervision = record_supervision(s->record);
	json_t *done = json_object_get(supervision, "grants_ended");

	if (!done) {
		done = json_object();
		json_object_set_new(supervision, "grants_ended", done);
	}
	return done;
}

/* Delivery ends: files go, variables stay until the run ends. whose NULL: that was told before. */
static void expire(struct supervisor *s, const struct strv *files, const char *whose)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) there = STRV_INIT(PLAN_LEASE_FILES_MAX);

	strv_foreach (name, files)
		if (lease_has_file(s, *name))
			strv_add(&there, *name);
	if (whose)
		record_warn(s->record, "lease_expired",
			"%s expired: its files are wiped, its variables stay", whose);
	supervisor_persist(s, false);
	if (there.n > 0 && lease_scrub(s, &there, &err) < 0)
		log_warning("%s", err.message);
}

/* Of a session's grant: what it has open is cut. */
static bool is_session(const struct supervisor *s, const char *grant)
{
	return s->plan.egress.present && strcmp(s->plan.egress.session.grant.id, grant) == 0;
}

static bool every_grant_ended(struct supervisor *s)
{
	for (size_t i = 0; i < s->plan.lease.n_bindings; i++)
		if (!json_object_get(ended(s), s->plan.lease.bindings[i].grant))
			return false;
	return s->plan.lease.n_bindings > 0;
}

static void expire_all(struct supervisor *s)
{
	AUTO(strv) files = STRV_INIT(PLAN_LEASE_FILES_MAX);
	auto_free char *whose = mem_printf("lease %s", s->plan.lease.id);

	for (size_t i = 0; i < s->plan.lease.n_files; i++)
		strv_add(&files, s->plan.lease.files[i].name);
	egress_close(s, "expired");
	expire(s, &files, every_grant_ended(s) ? NULL : whose);
}

static void expire_grant(struct supervisor *s, const char *grant)
{
	const struct plan_lease *l = &s->plan.lease;
	auto_free char *whose =
		json_object_get(ended(s), l->id) ? NULL : mem_printf("grant %s", grant);

	if (is_session(s, grant))
		egress_close(s, "expired");
	for (size_t i = 0; i < l->n_bindings; i++)
		if (strcmp(l->bindings[i].grant, grant) == 0)
			expire(s, &l->bindings[i].files, whose);
}

/* Each of the lease's grants is told once; what the run does not have is not its business. */
static bool knows(const struct supervisor *s, const char *grant)
{
	for (size_t i = 0; i < s->plan.lease.n_bindings; i++)
		if (strcmp(s->plan.lease.bindings[i].grant, grant) == 0)
			return true;
	return false;
}

/* On record when it was acted upon, so that it is not told again every five minutes. */
static bool acted_before(struct supervisor *s, const char *grant)
{
	if (json_object_get(ended(s), grant))
		return true;
	json_object_set_new(ended(s), grant, json_true());
	return false;
}

static void act(struct supervisor *s, const json_t *one)
{
	const char *grant = json_get_string(one, "grant");
	struct text result = json_get_text(one, "result");
	bool revoked = text_is(result, "revoked");

	if (!grant || !knows(s, grant) || !(revoked || text_is(result, "expired")))
		return;
	/* A revocation that had to end the run, and could not, is tried again. */
	if (acted_before(s, grant) && !revoked)
		return;
	if (revoked)
		revoke_grant(s, grant);
	else
		expire_grant(s, grant);
}

/* False: it is no answer about this lease. */
static bool take_answer(struct supervisor *s, const struct engine_answer *answer)
{
	struct extension *x = &s->extension;
	auto_error struct error err = ERROR_INIT;
	size_t i;
	json_t *one;

	auto_json *j = answer->exit_code == 0
			       ? json_read(answer->out, ANSWER_MAX, "the answer of lease extend",
					 ERROR_IO, &err)
			       : NULL;
	const json_t *grants = json_object_get(j, "grants");
	/* Not `expires_at`: a wall clock that was set back would tell one too late. */
	int64_t left = json_get_int(j, "expires_in_s", -1);
	if (!j || !text_is(json_get_text(j, "lease"), s->plan.lease.id) || !json_is_array(grants) ||
		left < 0)
		return false;
	/* None: no grant goes on, and what is said of each is all that is to be done. */
	x->ends_at = left > 0 ? end_in(left) : x->asked_at;
	json_object_set_new(record_supervision(s->record), ENDS, json_integer(x->ends_at));
	const json_t *session = json_object_get(j, "egress");
	if (json_is_object(session) && json_get_string(session, "session"))
		egress_renew(s, json_get_string(session, "session"),
			json_get_int(session, "deadline_boottime_ms", 0));
	supervisor_persist(s, false);
	json_array_foreach(grants, i, one) if (supervisor_released(s)) act(s, one);
	return true;
}

/* A third of the window that ends first: the lease's, or that of a session. */
static int64_t every_ms(const struct supervisor *s)
{
	int64_t third = s->plan.egress.session.grant.session_ttl_s * MS / 3;

	return s->plan.egress.present && third < EVERY_MS ? third : EVERY_MS;
}

/* The start took more than a third of the session's window. */
static bool is_late(const struct supervisor *s)
{
	return s->plan.egress.present &&
	       s->egress.deadline_ms - clock_boottime_ms() < 2 * every_ms(s);
}

/* Asked again soon; a lease that is over ends without an answer. */
static void go_without(struct supervisor *s)
{
	s->extension.unheard = true;
	if (over(s) && !acted_before(s, s->plan.lease.id))
		expire_all(s);
	ask_in(s, AGAIN_MS);
}

static void on_answer(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	struct extension *x = &s->extension;

	x->call = NULL;
	if (!supervisor_released(s))
		return;
	bool taken = take_answer(s, answer);
	/* What was taken back may have ended the run. */
	if (!supervisor_released(s))
		return;
	if (taken) {
		x->unheard = false;
		ask_in(s, every_ms(s));
	} else {
		auto_free char *words = mask_words(s, answer->stderr_text);
		log_warning("the lease could not be extended: %.400s", words);
		go_without(s);
	}
	arm_end(s);
}

struct engine_call *extend_call(struct supervisor *s, const char *option, size_t out_max,
	engine_call_fn *fn, struct error *err)
{
	auto_free char *path = program_path("cloop");
	AUTO(strv) argv = STRV_INIT(16);
	AUTO(strv) env = STRV_INIT(16);

	STRV_ADD(&argv, "cloop", "lease", "extend", "--json", "--run", s->run.handle, "--home",
		s->home.path);
	if (option)
		strv_add(&argv, option);
	program_environment(&env);
	struct engine_call_spec spec = {.path = path,
		.argv = argv.v,
		.env = env.v,
		.fd3 = -1,
		.timeout_ms = ANSWER_MS,
		.out_max = out_max};
	return engine_call_start(s->loop, &spec, fn, s, err);
}

static void ask(void *data)
{
	struct supervisor *s = data;
	struct extension *x = &s->extension;
	auto_error struct error err = ERROR_INIT;

	x->timer = NULL;
	if (x->call || !supervisor_released(s))
		return;
	x->asked_at = clock_boottime_ms();
	x->call = extend_call(s, NULL, ANSWER_MAX, on_answer, &err);
	if (x->call)
		return;
	log_warning("the lease could not be extended: %s", err.message);
	go_without(s);
}

/*
 * The time is up, at least for the first of the grants: which ones, the answer says, or its absence
 * that all are. Where the last question found nobody, and was no longer ago than such questions
 * are, that is known already.
 */
static void at_end(void *data)
{
	struct supervisor *s = data;
	struct extension *x = &s->extension;

	x->end_timer = NULL;
	if (!supervisor_released(s) || x->call)
		return;
	bool recent = clock_boottime_ms() - x->asked_at <= AGAIN_MS / x->pace;
	if (x->asked_at < x->ends_at && !(x->unheard && recent)) {
		loop_remove(TAKE_PTR(x->timer));
		ask(s);
	} else if (x->unheard && !acted_before(s, s->plan.lease.id)) {
		expire_all(s);
	}
}

void extend_begin(struct supervisor *s)
{
	struct extension *x = &s->extension;

	if (!s->plan.lease.id || s->plan.lease.lasting)
		return;
	x->pace = fault_hit("extend:soon") ? HURRY : 1;
	json_t *supervision = record_supervision(s->record);
	int64_t left = s->plan.lease.expires_at - clock_realtime_ns() / NS_PER_S;
	x->ends_at = json_get_int(supervision, ENDS, end_in(left));
	json_object_set_new(supervision, ENDS, json_integer(x->ends_at));
	ask_in(s, is_late(s) ? 0 : every_ms(s));
	arm_end(s);
}

void extend_end(struct supervisor *s)
{
	loop_remove(TAKE_PTR(s->extension.timer));
	loop_remove(TAKE_PTR(s->extension.end_timer));
	engine_call_cancel(s->extension.call);
	s->extension.call = NULL;
}

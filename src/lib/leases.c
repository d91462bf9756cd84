/* Which leases runs hold, and taking one back (include/cloop/container.h, container-driver.md
 * §15.4). */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/scrub.h"
#include "executor/rundir/record.h"
#include "lib/revocations.h"
#include "lib/run.h"
#include "lib/strings.h"
#include "sys/clock.h"

enum { LEASES_MAX = 100000, REASON_MAX = 512 };

/* ---- Who holds what ---- */

typedef void hold_fn(void *data, const char *handle, const json_t *lease);

/*
 * The lease of a run of ours that has not ended, or has something left; *ret NULL = it holds none.
 * -1: that cannot be told.
 */
static int lease_of(const struct lib_call *call, const struct home *home, const char *handle,
	json_t **ret, struct error *err)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	int gone = rundir_look(home, handle, &run, err);
	if (gone != 0)
		return gone < 0 ? -1 : 0;
	auto_json *record = rundir_read(&run, RECORD_FILE, &ignored);
	if (!record || (record_final(record) && !rundir_has_leftovers(&run)) ||
		!lib_run_is_ours(call, record))
		return 0;
	auto_json *plan = rundir_read(&run, REQUEST_FILE, &ignored);
	json_t *lease = json_object_get(plan, "lease");
	*ret = json_is_object(lease) ? json_incref(lease) : NULL;
	return 0;
}

static int visit(const struct lib_call *call, hold_fn *hold, void *data, struct error *err)
{
	AUTO(home) home = HOME_INIT;
	AUTO(strv) handles = STRV_INIT(RUNDIR_RUNS_MAX);

	if (home_open(call->home, &home, err) < 0 || rundir_handles(&home, &handles, err) < 0)
		return -1;
	strv_foreach (handle, &handles) {
		auto_json *lease = NULL;
		if (lease_of(call, &home, *handle, &lease, err) < 0)
			return -1;
		if (lease)
			hold(data, *handle, lease);
	}
	return 0;
}

static void collect(void *data, const char *handle, const json_t *lease)
{
	auto_free char *id = json_exact_bytes(json_object_get(lease, "id"));

	(void)handle;
	if (id && !strv_has(data, id))
		(void)!strv_add(data, id);
}

static int list(struct cloop_container *container, struct strv *ret, struct error *err)
{
	struct lib_call call;

	lib_call_begin(container, NULL, &call);
	if (visit(&call, collect, ret, err) < 0)
		return -1;
	strv_sort(ret);
	return 0;
}

int cloop_container_leases(
	struct cloop_container *container, char ***leases, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	AUTO(strv) ids = STRV_INIT(LEASES_MAX);

	if (LIB_MISSING(e, container, leases) || list(container, &ids, e) < 0)
		return -1;
	*leases = lib_strings_give(&ids);
	return 0;
}

bool cloop_container_holds_lease(struct cloop_container *container, const char *lease)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO(strv) ids = STRV_INIT(LEASES_MAX);

	return container && list(container, &ids, &ignored) == 0 && strv_has(&ids, lib_text(lease));
}

/* ---- Taking one back ---- */

struct wanted {
	const char *lease, *grant; /* grant "": all */
	struct strv *runs;
};

static bool has_grant(const json_t *lease, const char *grant)
{
	size_t i;
	json_t *binding;

	json_array_foreach(json_object_get(lease, "bindings"), i, binding)
	{
		auto_free char *id = json_exact_bytes(json_object_get(binding, "grant"));
		if (id && strcmp(id, grant) == 0)
			return true;
	}
	return false;
}

static void find(void *data, const char *handle, const json_t *lease)
{
	const struct wanted *w = data;
	auto_free char *id = json_exact_bytes(json_object_get(lease, "id"));

	if (id && strcmp(id, w->lease) == 0 && (!w->grant[0] || has_grant(lease, w->grant)))
		(void)!strv_add(w->runs, handle);
}

static json_t *request_of(const struct cloop_revoke_request *in)
{
	AUTO(str) reason = STR_INIT(REASON_MAX + 16);
	json_t *j = json_pack("{s:o, s:s}", "lease", json_from_string(lib_text(in->lease)),
		"action", in->action == CLOOP_REVOKE_KILL ? "kill" : "scrub");

	scrub_add(&reason, text_of(lib_text(in->reason)), REASON_MAX);
	json_object_set_new(j, "reason", json_from_string(str_text(&reason)));
	if (lib_text(in->grant)[0])
		json_object_set_new(j, "grant", json_from_string(in->grant));
	return j;
}

/* The worst that happened counts, and the first reason of that. */
static void worsen(struct lib_revocation *r, enum cloop_revoke_state state, const char *reason,
	const char *remediation)
{
	if (r->state == CLOOP_REVOKE_FAILED || r->state == state)
		return;
	r->state = state;
	mem_set_string(&r->reason, reason);
	mem_set_string(&r->remediation, remediation);
}

static void add_answer(struct lib_revocation *r, const json_t *answer)
{
	struct text outcome = json_get_text(answer, "outcome");
	bool done = text_is(outcome, "done");

	r->sessions = r->sessions || json_get_bool(answer, "sessions", false);
	r->killed = r->killed || (done && text_is(json_get_text(answer, "effect"), "kill"));
	if (done)
		(void)!json_exact_list_bytes(json_object_get(answer, "files"), &r->files);
	else
		worsen(r,
			text_is(outcome, "unreachable") ? CLOOP_REVOKE_UNREACHABLE
							: CLOOP_REVOKE_FAILED,
			json_get_string(answer, "reason"), json_get_string(answer, "remediation"));
}

static void tell(const struct lib_call *call, const char *handle, const json_t *request,
	struct lib_revocation *r)
{
	auto_error struct error why = ERROR_INIT;
	auto_json *answer = NULL;

	if (executor_revoke_lease(&call->executor, call->home, handle, request, &answer, &why) == 0)
		add_answer(r, answer);
	else if (!error_is(&why, ERROR_HANDLE_NOT_FOUND))
		worsen(r, CLOOP_REVOKE_UNREACHABLE, why.message, error_remedy(&why));
}

static void carry_out(const struct lib_call *call, const struct cloop_revoke_request *in,
	struct lib_revocation *r)
{
	auto_error struct error why = ERROR_INIT;
	struct wanted w = {r->lease, r->grant, &r->runs};
	auto_json *request = request_of(in);

	if (text_blank(text_of(r->lease))) {
		worsen(r, CLOOP_REVOKE_FAILED, "a revocation names no lease",
			"give the id of the lease");
		return;
	}
	if (visit(call, find, &w, &why) < 0) {
		worsen(r, CLOOP_REVOKE_UNREACHABLE, why.message, error_remedy(&why));
		return;
	}
	strv_sort(&r->runs);
	r->held = r->runs.n > 0;
	strv_foreach (run, &r->runs)
		tell(call, *run, request, r);
	if (r->state == CLOOP_REVOKE_PENDING)
		r->state = CLOOP_REVOKE_DONE;
}

/* On no list. */
static struct cloop_revoke_outcome *refuse(const char *reason)
{
	static const struct cloop_revoke_request none;
	struct lib_revocation r;

	lib_revocation_init(&r, &none);
	worsen(&r, CLOOP_REVOKE_FAILED, reason, "see libcloop(3), cloop/base.h: NULL");
	r.ended_ns = r.begun_ns;
	struct cloop_revoke_outcome *given = lib_revocation_give(&r);
	lib_revocation_done(&r);
	return given;
}

struct cloop_revoke_outcome *cloop_container_revoke_lease(struct cloop_container *container,
	const struct cloop_cancel *cancel, const struct cloop_revoke_request *request)
{
	LIB_GIVE_UP(cancel);
	struct lib_call call;
	struct lib_revocation r;

	if (!container || !request)
		return refuse(container ? "request is NULL" : "container is NULL");
	lib_call_begin(container, cancel, &call);
	lib_revocation_init(&r, request);
	uint64_t number = lib_revocations_begin(container->revocations, &r);
	carry_out(&call, request, &r);
	r.ended_ns = clock_realtime_ns();
	struct cloop_revoke_outcome *given = lib_revocation_give(&r);
	lib_revocations_end(container->revocations, number, &r);
	return given;
}

struct cloop_revoke_outcome **cloop_container_revocations(struct cloop_container *container)
{
	return container ? lib_revocations_give(container->revocations)
			 : mem_alloc(sizeof(struct cloop_revoke_outcome *));
}

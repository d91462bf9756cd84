#include "executor/container/decisions/lifecycle.h"

#include "base/enum-text.h"
#include "vault/revocation.h"

static const char *const adopt_names[] = {
	[ADOPT_LEAVE] = "leave",
	[ADOPT_UNKNOWN] = "unknown",
	[ADOPT_CLEANUP] = "cleanup",
	[ADOPT_LOST] = "lost",
	[ADOPT_LOST_CLEANUP] = "lost_cleanup",
	[ADOPT_ABORT] = "abort",
	[ADOPT_ADOPT] = "adopt",
	[ADOPT_FINISH] = "finish",
};
ENUM_TEXT(adopt_verdict, adopt_names, ADOPT_VERDICT_COUNT)

static const char *const effect_names[] = {
	[REVOKE_NONE] = "none",
	[REVOKE_SCRUB] = "scrub",
	[REVOKE_KILL] = "kill",
};
ENUM_TEXT(revoke_effect, effect_names, REVOKE_EFFECT_COUNT)

static bool text_among(struct text t, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text_is(t, words[i]))
			return true;
	return false;
}

/* The container is ours and its workload may have run: what its status says. */
static enum adopt_verdict by_status(struct text status)
{
	static const char *const alive[] = {"running", "paused", "restarting", "stopping"};
	static const char *const ended[] = {"exited", "stopped", "dead"};

	if (text_among(status, alive, ARRAY_SIZE(alive)))
		return ADOPT_ADOPT;
	return text_among(status, ended, ARRAY_SIZE(ended)) ? ADOPT_FINISH : ADOPT_LOST_CLEANUP;
}

enum adopt_verdict adopt_decide(const struct adopt_input *in)
{
	bool final = in->record == ADOPT_RECORD_TERMINAL;
	bool ours = in->container_found && in->container_ours;
	bool never_ran = in->record == ADOPT_RECORD_PENDING && !in->released;

	if (in->shim_alive)
		return ADOPT_LEAVE;
	if (in->engine_down)
		return final ? ADOPT_LEAVE : ADOPT_UNKNOWN;
	if (final)
		return ours ? ADOPT_CLEANUP : ADOPT_LEAVE;
	if (!text_equal(in->boot_id, in->boot_id_now))
		return ours ? ADOPT_LOST_CLEANUP : ADOPT_LOST;
	if (never_ran)
		return ADOPT_ABORT;
	return ours ? by_status(in->container_status) : ADOPT_LOST;
}

void revoke_plan_done(struct revoke_plan *p)
{
	strv_done(&p->files);
}

static bool selected(const struct revoke_binding *b, const struct revoke_request *request)
{
	return text_equal(b->lease, request->lease) &&
	       (request->grant.len == 0 || text_equal(b->grant, request->grant));
}

/* Adds the binding to the plan; true: only the end of the container takes it back. */
static bool plan_binding(const struct revoke_binding *b, bool stage_known, struct revoke_plan *plan)
{
	bool wipeable = stage_known && b->dir.len > 0;

	plan->sessions |= text_is(b->kind, "egress");
	for (size_t i = 0; wipeable && i < b->n_files; i++)
		strv_addf(&plan->files, "%.*s/%.*s", (int)b->dir.len, b->dir.p,
			(int)b->files[i].len, b->files[i].p);
	return b->n_env_keys > 0 || !revocation_kind_wiped(b->kind) ||
	       (b->n_files > 0 && !wipeable);
}

int revoke_decide(const struct revoke_binding *bindings, size_t n,
	const struct revoke_request *request, bool stage_known, struct revoke_plan *ret,
	struct error *err)
{
	struct revoke_plan plan = {.files = STRV_INIT(SIZE_MAX)};
	bool kill = text_is(request->action, "kill");

	if (text_blank(request->lease))
		return error_set(err, ERROR_LEASE_MISSING, "a revocation names no lease");
	for (size_t i = 0; i < n; i++) {
		if (!selected(&bindings[i], request))
			continue;
		plan.held = true;
		kill |= plan_binding(&bindings[i], stage_known, &plan);
	}
	if (plan.held)
		plan.effect = kill ? REVOKE_KILL : REVOKE_SCRUB;
	*ret = plan;
	return 0;
}

#include "executor/container/supervise/revoke.h"

#include <string.h>

#include "base/mem.h"
#include "executor/container/decisions/lifecycle.h"
#include "executor/container/supervise/mask.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/fault.h"

/* On record: whose revocation was told already, a grant's or the lease's. */
#define TOLD "revocations_told"
#define ROTATE "rotate the credential at its source: what was delivered may still be in use"

static size_t count_files(const struct plan_lease *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n_bindings; i++)
		n += l->bindings[i].files.n;
	return n;
}

/* The plan's bindings as the decision takes them; `names` has room for all their files. */
static void list_bindings(
	const struct plan_lease *l, struct text *names, struct revoke_binding *ret)
{
	for (size_t i = 0; i < l->n_bindings; i++) {
		const struct plan_binding *b = &l->bindings[i];
		ret[i] = (struct revoke_binding){
			.lease = text_of(l->id),
			.grant = text_of(b->grant),
			.kind = text_of(b->kind),
			.files = names,
			.n_files = b->files.n,
			.dir = text_of(l->dir ? l->dir : ""),
			.n_env_keys = b->env_keys.n,
		};
		strv_foreach (name, &b->files)
			*names++ = text_of(*name);
	}
}

static int decide(struct supervisor *s, const struct revoke_request *request,
	struct revoke_plan *ret, struct error *err)
{
	struct revoke_binding bindings[PLAN_LEASE_BINDINGS_MAX];
	const struct plan_lease *l = &s->plan.lease;
	auto_free struct text *names = mem_alloc((count_files(l) + 1) * sizeof(*names));

	list_bindings(l, names, bindings);
	return revoke_decide(bindings, l->n_bindings, request, s->lease.stage.fd >= 0, ret, err);
}

static json_t *answer_of(const struct revoke_plan *plan)
{
	return json_pack("{s:b, s:s, s:o, s:b}", "held", plan->held, "effect",
		revoke_effect_text(plan->effect), "files", json_exact_list(&plan->files),
		"sessions", plan->sessions);
}

/* The names below the stage of DIR/NAME. */
static int scrub(struct supervisor *s, const struct revoke_plan *plan, struct error *err)
{
	AUTO(strv) names = STRV_INIT(PLAN_LEASE_FILES_MAX);

	strv_foreach (file, &plan->files)
		strv_add(&names, *file + strlen(s->plan.lease.dir) + 1);
	return lease_scrub(s, &names, err);
}

/* Once: an extension says it again and again. */
static void tell(
	struct supervisor *s, const struct revoke_request *request, const struct revoke_plan *plan)
{
	auto_free char *grant =
		mem_strndup(request->grant.p ? request->grant.p : "", request->grant.len);
	const char *whose = grant[0] ? grant : s->plan.lease.id;
	const char *what = plan->effect == REVOKE_KILL ? "the run is ended"
			   : plan->files.n > 0         ? "files are removed"
						       : "its session is closed";

	json_t *told = json_object_get(record_supervision(s->record), TOLD);

	if (!told) {
		told = json_object();
		json_object_set_new(record_supervision(s->record), TOLD, told);
	}
	if (json_object_get(told, whose))
		return;
	json_object_set_new(told, whose, json_true());
	supervisor_note(s, "a credential of this run was revoked: %s", what);
	record_warn(s->record, "lease_revoked", "%s was revoked: %s", whose, what);
	supervisor_persist(s, false);
}

static void end_start(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	error_set(&err, ERROR_START_CANCELLED,
		"the start was cancelled: a credential of the run was revoked");
	start_fail(s, &err);
}

/* 0 all is done; 1 it will be, when the container is gone; -1 files could not be wiped. */
static int carry_out(struct supervisor *s, const struct revoke_request *request,
	const struct revoke_plan *plan, struct error *err)
{
	/* Nothing has seen a value yet; and from its end on everything is taken back anyway. */
	if (s->phase == PHASE_STARTING) {
		end_start(s);
		return 1;
	}
	if (s->phase == PHASE_ENDING || s->phase == PHASE_OVER || record_final(s->record))
		return 1;
	tell(s, request, plan);
	if (plan->sessions)
		egress_close(s, "revoked");
	int wiped = scrub(s, plan, err);
	fault_hit("revoke:scrubbed");
	if (plan->effect != REVOKE_KILL)
		return wiped;
	stop_request(s, "revoked", 0);
	return 1;
}

static int take_back(
	struct supervisor *s, const struct revoke_request *request, json_t **ret, struct error *err)
{
	auto_error struct error failed = ERROR_INIT;
	AUTO(revoke_plan) plan = {.held = false};

	/* Who takes a run over masks what is in its files before they go. */
	if (s->phase == PHASE_ADOPTING && lease_restore(s, &failed) < 0)
		error_clear(&failed);
	if (decide(s, request, &plan, err) < 0)
		return -1;
	*ret = answer_of(&plan);
	int r = plan.held ? carry_out(s, request, &plan, &failed) : 0;
	/* It is on record, and done when the engine is back. */
	if (r == 1 && s->ask_wait_ms > 0)
		revoke_settle(s, "unreachable", "the engine does not answer");
	if (r == 1)
		return 1;
	json_object_set_new(*ret, "outcome", json_string(r < 0 ? "failed" : "done"));
	if (r < 0) {
		record_warn(s->record, "lease_revoke_failed", "%s", failed.message);
		supervisor_persist(s, false);
		json_object_set_new(*ret, "reason", json_from_string(failed.message));
		json_object_set_new(*ret, "remediation", json_string(ROTATE));
	}
	return 0;
}

int revoke_run(void *data, const json_t *request, json_t **ret, struct error *err)
{
	struct revoke_request r = {
		.lease = json_get_text(request, "lease"),
		.grant = json_get_text(request, "grant"),
		.action = json_get_text(request, "action"),
	};

	return take_back(data, &r, ret, err);
}

void revoke_grant(struct supervisor *s, const char *grant)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *answer = NULL;
	struct revoke_request r = {.lease = text_of(s->plan.lease.id),
		.grant = text_of(grant),
		.action = TEXT("scrub")};

	if (take_back(s, &r, &answer, &err) < 0)
		supervisor_note(s, "a credential could not be taken back: %s", err.message);
}

void revoke_settle(struct supervisor *s, const char *outcome, const char *reason)
{
	auto_json *more = json_pack("{s:s}", "outcome", outcome);

	if (reason) {
		auto_free char *masked = mask_words(s, text_of(reason));
		json_object_set_new(more, "reason", json_from_string(masked));
		json_object_set_new(more, "remediation", json_string(ROTATE));
	}
	control_server_settle(s->server, more);
}

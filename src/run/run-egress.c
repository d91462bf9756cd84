#include "run/run-egress.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "run/context.h"
#include "run/decision.h"
#include "vault/clocks-now.h"
#include "vault/time-json.h"

void run_egress_done(struct run_egress *e)
{
	for (size_t i = 0; i < e->n; i++)
		egress_grant_done(&e->held[i].grant);
	free(e->held);
	free(e->facts);
	*e = RUN_EGRESS_INIT;
}

/* ---- Which ones are held ---- */

struct finding {
	const struct subject_who *who;
	struct two_clocks now;
	struct run_egress *ret;
	bool too_many;
};

static void consider(void *data, const struct store_egress_grant *row)
{
	struct finding *f = data;
	struct run_egress *e = f->ret;
	auto_error struct error ignored = ERROR_INIT;
	struct run_egress_grant one = {.expires_at = egress_grants_end(row, &f->now)};

	if (egress_grants_state(row, &f->now) != GRANT_ACTIVE)
		return;
	if (egress_grants_read(row, &one.grant, &ignored) < 0 ||
		!subject_matches(&one.grant.subject, f->who) || e->n == RUN_EGRESS_GRANTS_MAX) {
		f->too_many |= e->n == RUN_EGRESS_GRANTS_MAX;
		egress_grant_done(&one.grant);
		return;
	}
	e->held = mem_grow(e->held, e->n + 1, sizeof(*e->held));
	e->held[e->n++] = one;
}

static void list_facts(struct run_egress *e)
{
	e->facts = mem_alloc((e->n + 1) * sizeof(*e->facts));
	for (size_t i = 0; i < e->n; i++) {
		const struct egress_grant *g = &e->held[i].grant;
		e->facts[i] = (struct apply_grant){.id = g->id,
			.scope = g->scope[0] ? g->scope : NULL,
			.active = true,
			.this_project = true};
	}
}

int run_egress_find(
	struct store *s, const struct run_lease_who *who, struct run_egress *ret, struct error *err)
{
	auto_free struct subject_label *labels = mem_alloc((who->n_labels + 1) * sizeof(*labels));
	struct subject_who subject;
	struct finding f = {.who = &subject, .now = clocks_now(), .ret = ret};

	run_lease_subject(who, labels, &subject);
	if (s && store_egress_grant_list(s, f.now.realtime, consider, &f, err) < 0)
		return -1;
	if (f.too_many) {
		error_set(err, ERROR_OUT_OF_RANGE, "more than %d egress grants match this run",
			RUN_EGRESS_GRANTS_MAX);
		return error_set_remedy(err, "revoke what is not needed: cloop egress list");
	}
	list_facts(ret);
	return 0;
}

const struct run_egress_grant *run_egress_held(const struct run_egress *e, const char *id)
{
	for (size_t i = 0; id && i < e->n; i++)
		if (strcmp(e->held[i].grant.id, id) == 0)
			return &e->held[i];
	return NULL;
}

/* ---- Can it be served? ---- */

int run_egress_judge(const struct context *c, const struct decision *d, struct error *err)
{
	if (!d->run.grant)
		return 0;
	if (!c->config.egress.enabled) {
		error_set(err, ERROR_SANDBOX_EGRESS_UNAVAILABLE,
			"egress grant %s cannot be used: the egress proxy is disabled "
			"(executors.egress.enabled)",
			d->run.grant);
		return error_set_remedy(err, "remove capabilities.network, or let the operator set "
					     "executors.egress.enabled to true");
	}
	if (strcmp(executor_kind(d->executor), "container") == 0)
		return 0;
	error_set(err, ERROR_SANDBOX_EGRESS_UNAVAILABLE,
		"egress grant %s cannot be used: there is no route to the egress proxy from "
		"executor %s (%s)",
		d->run.grant, d->executor->id, executor_kind(d->executor));
	return error_set_remedy(
		err, "bind the project to a container executor, or remove capabilities.network");
}

json_t *run_egress_to_json(const struct run_egress *e, const char *id)
{
	const struct run_egress_grant *held = run_egress_held(e, id);

	if (!held)
		return json_null();
	return json_pack("{s:s, s:o, s:o, s:o}", "grant", held->grant.id, "subject",
		json_from_string(held->grant.subject.text), "policy",
		egress_grant_to_json(&held->grant), "expires_at", time_json(held->expires_at));
}

#include "run/choice.h"

#include "base/enum-text.h"
#include "base/mem.h"
#include "executor/drivers/drivers.h"
#include "executor/gate.h"
#include "executor/placement.h"

static const char *const by_names[] = {
	[CHOICE_OPTION] = "option",
	[CHOICE_BINDING] = "binding",
	[CHOICE_DEFAULT] = "default",
	[CHOICE_ONLY] = "only",
	[CHOICE_PLACEMENT] = "placement",
};
ENUM_TEXT(choice_by, by_names, CHOICE_BY_COUNT)

void choice_done(struct choice *c)
{
	json_decref(c->rejections);
	*c = (struct choice){0};
}

/* NULL: nobody named one. */
static const char *named(
	const struct context *c, const struct choice_input *in, enum choice_by *ret_by)
{
	const char *const ids[] = {
		[CHOICE_OPTION] = in->option,
		[CHOICE_BINDING] = in->binding,
		[CHOICE_DEFAULT] = c->config.default_id,
		[CHOICE_ONLY] = c->executors.n == 1 ? c->executors.items[0]->id : NULL,
	};

	for (size_t by = 0; by < ARRAY_SIZE(ids); by++) {
		if (!ids[by])
			continue;
		*ret_by = (enum choice_by)by;
		return ids[by];
	}
	return NULL;
}

int choice_gate(const struct context *c, const struct candidate *able,
	const struct requirement *need, bool *ret_network_off_unproven, struct error *err)
{
	struct check_policy policy = config_policy(&c->config);
	auto_free struct candidate *registered = executor_list_candidates(&c->executors);
	struct gate gate = {
		.policy = &policy,
		.need = need,
		.bound = able,
		.registered = registered,
		.n_registered = c->executors.n,
	};

	return gate_check(&gate, ret_network_off_unproven, err);
}

/* Of an executor that is none of this process, since the operator has it off. */
static int refuse_off(const struct context *c, const struct choice_input *in,
	const struct candidate *off, struct error *err)
{
	bool unused;

	return choice_gate(c, off, in->need, &unused, err) < 0
		       ? -1
		       : error_set(err, ERROR_INTERNAL, "an executor that is off passes the gate");
}

static int refuse_unavailable(const struct executor *e, struct error *err)
{
	const struct error *reason = executor_unavailable_reason(e);

	error_set(err, reason->code, "executor %s: %s", e->id, reason->message);
	return error_set_remedy(err, "%s", error_remedy(reason));
}

static int take(const struct context *c, const struct choice_input *in, const char *id,
	struct choice *ret, struct error *err)
{
	struct candidate off;

	ret->executor = executor_list_find(&c->executors, id, err);
	ret->considered = 1;
	if (ret->executor)
		return executor_unavailable_reason(ret->executor)
			       ? refuse_unavailable(ret->executor, err)
			       : 0;
	if (!drivers_off(id, &off)) {
		if (ret->by == CHOICE_BINDING)
			error_set_remedy(
				err, "bind the project to one of them: cloop executor bind ID");
		return -1;
	}
	error_clear(err);
	return refuse_off(c, in, &off, err);
}

/* Best of those that take it. What does not isolate is no answer, so it is asked without. */
static int place(const struct context *c, const struct requirement *need,
	const struct candidate *list, struct choice *ret, struct error *err)
{
	struct check_policy policy = config_policy(&c->config);
	struct requirement isolated = *need;
	const struct candidate *best = NULL;
	size_t n = c->executors.n;

	if (placement_choose(&policy, list, n, need, &best, err) < 0)
		return -1;
	if (!candidate_isolates(best)) {
		isolated.isolation_required = true;
		need = &isolated;
		if (placement_choose(&policy, list, n, need, &best, err) < 0)
			return -1;
	}
	ret->executor = c->executors.items[best - list];
	ret->rejections = placement_rejections(&policy, list, n, need);
	return 0;
}

int choice_make(const struct context *c, const struct choice_input *in, struct choice *ret,
	struct error *err)
{
	const char *id = named(c, in, &ret->by);

	if (id)
		return take(c, in, id, ret, err);
	auto_free struct candidate *list = executor_list_candidates(&c->executors);
	ret->by = CHOICE_PLACEMENT;
	ret->considered = c->executors.n;
	return place(c, in->need, list, ret, err);
}

json_t *choice_to_json(const struct choice *c)
{
	json_t *j = json_pack("{s:s, s:s, s:I, s:[]}", "selected", c->executor->id, "by",
		choice_by_text(c->by), "considered", (json_int_t)c->considered, "rejections");

	if (c->rejections)
		json_object_set(j, "rejections", c->rejections);
	return j;
}

int choice_judge_file(const struct context *c, const struct choice_file *f,
	bool *ret_network_off_unproven, struct error *err)
{
	const struct sandbox_spec *spec = f->file->present ? &f->file->spec : NULL;
	struct run_spec run = RUN_SPEC_INIT;
	AUTO(requirement) need = {0};
	struct choice_input in = {.binding = f->provider->executor, .need = &need};
	AUTO(choice) choice = {0};
	struct candidate able;

	run.workspace = RUN_WORKSPACE_BIND;
	requirement_of(spec, &run, &need);
	if (f->provider->harness)
		requirement_add_harness(&need, f->provider->harness);
	if (choice_make(c, &in, &choice, err) < 0)
		return -1;
	executor_capabilities(choice.executor, &able);
	return choice_gate(c, &able, &need, ret_network_off_unproven, err);
}

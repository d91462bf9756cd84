#include "run/decision.h"

#include <string.h>

#include "base/mem.h"
#include "executor/rundir/record.h"
#include "image/reference.h"
#include "limits/render.h"
#include "run/grant-words.h"
#include "run/run-egress.h"
#include "run/run-lease.h"
#include "spec/env-filter.h"
#include "spec/spec-load.h"

void decision_done(struct decision *d)
{
	spec_result_done(&d->file);
	choice_done(&d->choice);
	run_spec_done(&d->run);
	requirement_done(&d->need);
	strv_done(&d->env);
	strv_done(&d->names);
	strv_done(&d->withheld);
	strv_done(&d->harnesses);
	problems_done(&d->warnings);
}

static int judge_reference(struct text t, struct error *err)
{
	struct image_reference ignored;

	return image_reference_parse(t, &ignored, err);
}

/* A file with a malformed image is a denial too (image-trust.md §12). */
static int refuse_file(const struct context *c, const struct decision *d, struct error *err)
{
	struct text image = {d->file.refused_image, d->file.refused_image_len};
	struct image_verdict v;

	spec_result_error(&d->file, err);
	if (!image.p)
		return -1;
	image_verdict(&c->config.image_policy, IMAGE_ORIGIN_PROJECT, image, &v);
	return image_verdict_details(&v, IMAGE_ORIGIN_PROJECT, image, err);
}

/* Step 2. Where the file names no image, the executor judges its own. */
static int judge(const struct context *c, const struct decision *d, struct error *err)
{
	struct image_verdict ignored;

	if (!d->file.present || !d->file.spec.image)
		return 0;
	return image_verdict_pass(&c->config.image_policy, IMAGE_ORIGIN_PROJECT,
		text_of(d->file.spec.image), &ignored, err);
}

/* Step 3: the executor must be able to do all of it, what the grants bring included. */
static int pass_gate(
	const struct context *c, const struct offer *offer, struct decision *d, struct error *err)
{
	bool unproven = false;

	if (choice_gate(c, &d->able, &d->need, &unproven, err) < 0)
		return grant_words_add(offer, &d->file, err);
	if (unproven)
		problems_add(&d->warnings, PROBLEM_NETWORK_OFF_UNPROVEN, POSITION_NONE,
			"capabilities.network", CHOICE_UNPROVEN);
	return 0;
}

static const struct container_options *options_of(const struct context *c, const struct decision *d)
{
	return strcmp(executor_kind(d->executor), "container") == 0 ? &c->config.container : NULL;
}

/* Step 5. */
static int apply(const struct context *c, const struct decision_input *in, struct decision *d,
	struct error *err)
{
	const struct container_options *o = options_of(c, d);
	struct apply_facts facts = {
		.executor_network = o ? o->network : "none", .project = in->project};

	if (in->egress) {
		facts.grants = in->egress->facts;
		facts.n_grants = in->egress->n;
	}
	return apply_spec(&d->file, &facts, &d->run, &d->warnings, err);
}

/* Step 6. */
static int filter_environment(
	const struct decision_input *in, struct decision *d, struct error *err)
{
	for (size_t i = 0; in->env && i < in->env->n; i++) {
		struct text entry = text_of(in->env->v[i]);
		bool passes = env_filter_passes(&d->file.spec, entry);
		const char *eq = memchr(entry.p, '=', entry.len);
		size_t name = eq ? (size_t)(eq - entry.p) : entry.len;
		if ((passes && strv_add(&d->env, entry.p) < 0) ||
			strv_add_n(passes ? &d->names : &d->withheld, entry.p, name) < 0)
			return error_set(err, ERROR_ENV_TOO_MANY, "more than %d variables",
				DECISION_ENV_MAX);
	}
	return 0;
}

/* Step 4. */
static int read_ceilings(const struct context *c, const struct decision_input *in,
	struct decision *d, struct error *err)
{
	if (in->ceilings)
		d->ceilings = *in->ceilings;
	d->ceilings.of[CEILING_FLEET] = c->config.fleet;
	return ceilings_check(&d->ceilings, d->executor->id, err);
}

/* Step 7. */
static void limit(const struct context *c, struct decision *d)
{
	const struct container_options *o = options_of(c, d);
	struct effective_input in = {
		.spec = d->run.limits,
		.resource_limits = d->able.resource_limits,
		.pids_limit = d->able.pids_limit,
		.disk_enforcement = d->able.disk_enforcement,
	};

	memcpy(in.ceilings, d->ceilings.of, sizeof(in.ceilings));
	if (o) {
		in.defaults[RESOURCE_CPU] = (int64_t)o->cpu_millis;
		in.defaults[RESOURCE_MEMORY] = (int64_t)o->memory_mb;
		in.defaults[RESOURCE_PIDS] = o->pids_limit;
	}
	effective_limits(&in, &d->limits);
	if (o && o->pids_limit == CONTAINER_PIDS_DEFAULT)
		in.defaults[RESOURCE_PIDS] = 0; /* nobody asked for it */
	for (enum resource r = 0; r < RESOURCE_COUNT; r++)
		d->default_unheld[r] = in.defaults[r] > 0 && !d->limits.unenforced[r] &&
				       d->limits.source[r] == EFFECTIVE_FROM_NONE;
}

/* The provider's program first: it is the one without which nothing happens. */
static void want_harnesses(const struct decision_input *in, struct decision *d)
{
	if (in->harness) {
		d->run.harness = mem_strdup(in->harness);
		strv_add(&d->harnesses, in->harness);
	}
	if (d->file.present && d->file.spec.capabilities.git)
		strv_add(&d->harnesses, "git");
}

int decision_choose(const struct context *c, const struct decision_input *in, struct decision *ret,
	struct error *err)
{
	static const struct spec_checks checks = {.image = judge_reference};
	struct choice_input wanted = {in->executor_id, in->binding, &ret->need};

	spec_result_init(&ret->file);
	if (spec_load_dir(in->project, &checks, &ret->file, err) < 0)
		return -1;
	if (!ret->file.ok)
		return refuse_file(c, ret, err);
	if (judge(c, ret, err) < 0)
		return -1;
	want_harnesses(in, ret);
	ret->run.workspace = RUN_WORKSPACE_BIND;
	requirement_of(ret->file.present ? &ret->file.spec : NULL, &ret->run, &ret->need);
	if (choice_make(c, &wanted, &ret->choice, err) < 0)
		return -1;
	ret->executor = ret->choice.executor;
	executor_capabilities(ret->executor, &ret->able);
	return 0;
}

int decision_make(const struct context *c, const struct decision_input *in, struct decision *ret,
	struct error *err)
{
	if (in->offer)
		run_lease_promise(in->offer, &ret->run);
	requirement_done(&ret->need);
	requirement_of(ret->file.present ? &ret->file.spec : NULL, &ret->run, &ret->need);
	if (pass_gate(c, in->offer, ret, err) < 0 || read_ceilings(c, in, ret, err) < 0 ||
		apply(c, in, ret, err) < 0 || filter_environment(in, ret, err) < 0)
		return -1;
	limit(c, ret);
	return 0;
}

json_t *decision_limits_to_json(const struct decision *d)
{
	json_t *limits = effective_to_json(&d->limits);

	json_object_set_new(limits, "requested", effective_limits_to_json(&d->limits.requested));
	return limits;
}

static void warn_about(const struct problems *list, json_t *record)
{
	for (size_t i = 0; i < list->n; i++)
		record_warn(record, list->v[i].code, "%s", list->v[i].message);
}

void decision_warn(const struct decision *d, json_t *record)
{
	warn_about(&d->file.warnings, record);
	warn_about(&d->warnings, record);
	for (size_t i = 0; i < d->limits.n_clamps; i++) {
		auto_free char *line = render_clamp(&d->limits.clamps[i]);
		record_warn(record, "resource_ceiling", "%s", line);
	}
	for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
		if (!d->limits.unenforced[r])
			continue;
		auto_free char *line = render_unenforced(r, d->executor->id);
		record_warn(record, "resource_ceiling", "%s", line);
	}
	for (enum resource r = 0; r < RESOURCE_COUNT; r++)
		if (d->default_unheld[r])
			record_warn(record, "limit_unheld",
				"%s: the configuration limits it, and executor %s cannot hold that",
				resource_text(r), d->executor->id);
	for (size_t i = 0; i < d->withheld.n; i++)
		record_warn(record, "env_withheld",
			"%s is not passed on: env of the project's file does not name it",
			quoted_string(d->withheld.v[i]));
}

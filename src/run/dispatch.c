#include "run/dispatch.h"

#include <string.h>

#include "base/mem.h"
#include "executor/container/capabilities.h"
#include "executor/container/driver/driver.h"
#include "executor/container/plan-network.h"
#include "executor/container/driver/image-harness.h"
#include "executor/container/driver/run-image.h"
#include "executor/rundir/record.h"
#include "image/provenance.h"
#include "limits/disk-limit.h"
#include "run/audit.h"
#include "run/denial.h"
#include "run/ledger.h"
#include "run/provider.h"
#include "run/revoke.h"
#include "run/run-egress.h"
#include "run/run-lease.h"
#include "run/sandbox-run.h"
#include "spec/spec-json.h"
#include "store/store.h"
#include "sys/file.h"

/* The executor's request with the memory behind it. */
struct prepared {
	struct container_request request;
	struct text *env;
	struct request_mount mounts[SPEC_MAX_MOUNTS];
	struct text setup[RUN_SPEC_SETUP_MAX];
	struct run_lease *lease;         /* borrowed */
	const struct run_egress *egress; /* borrowed */
	const struct home *home;         /* borrowed */
	json_t *record;
	const struct dispatch *in;       /* borrowed */
	const struct provider *provider; /* borrowed */
	struct executor_start start;
};

static void prepared_done(struct prepared *p)
{
	free(p->env);
	json_decref(p->record);
}

static const char *image_of(const struct context *c, const struct decision *d)
{
	return d->run.image ? d->run.image : c->config.container.image;
}

static enum image_origin origin_of(const struct context *c, const struct decision *d)
{
	return d->run.image ? IMAGE_ORIGIN_PROJECT
			    : provenance_origin(
				      &c->config.provenance.published, text_of(image_of(c, d)));
}

static void fill_request(const struct context *c, const struct dispatch *in,
	const struct decision *d, struct prepared *p)
{
	p->env = mem_alloc((d->env.n + p->lease->material.n_variables + p->egress->lines.n + 1) *
			   sizeof(*p->env));
	for (size_t i = 0; i < d->env.n; i++)
		p->env[i] = text_of(d->env.v[i]);
	for (size_t i = 0; i < d->run.n_mounts; i++)
		p->mounts[i] = (struct request_mount){
			.source = text_of(d->run.mounts[i].source),
			.target = text_of(d->run.mounts[i].target),
			.read_only = d->run.mounts[i].read_only,
		};
	for (size_t i = 0; i < d->run.setup.n; i++)
		p->setup[i] = text_of(d->run.setup.v[i]);
	p->request = (struct container_request){
		.work_dir = text_of(in->input.project),
		.argv = in->argv,
		.n_argv = in->n_argv,
		.image = text_of(image_of(c, d)),
		.env = p->env,
		.n_env = d->env.n,
		.has_limits = true,
		.limits = d->limits.limits,
		.disable_network = d->run.network_off,
		.egress_scope = text_of(d->run.egress_scope ? d->run.egress_scope : ""),
		.mounts = p->mounts,
		.n_mounts = d->run.n_mounts,
		.labels = in->labels,
		.n_labels = in->n_labels,
		.sandbox_sha256 = text_of(d->run.sandbox_sha256),
	};
	run_lease_fill(p->lease, d, &p->request, p->env);
	/* Behind all others: the last value of a name counts. */
	strv_foreach (line, &p->egress->lines)
		p->env[p->request.n_env++] = text_of(*line);
}

static const char *or_null(const char *s)
{
	return s[0] ? s : NULL;
}

/* The run has directory and image, and nothing of it has begun. */
static int hold(void *data, const char *handle, struct error *err)
{
	const struct prepared *p = data;

	sandbox_run_write(p->home, handle);
	return run_lease_concerns(p->lease) ? run_lease_hold(p->lease, handle, err) : 0;
}

/* Where the disk limit comes from (disk-and-secrets.md §2). */
static const char *disk_source(const struct dispatch *in, const struct decision *d)
{
	uint64_t ceilings[CEILING_COUNT];
	struct text label = {0};

	for (enum ceiling i = 0; i < CEILING_COUNT; i++)
		ceilings[i] = d->ceilings.of[i].disk_mb;
	for (size_t i = 0; i < in->n_labels; i++)
		if (text_is(in->labels[i].key, "disk_limit_source"))
			label = in->labels[i].value;
	return disk_limit_resolve(
		d->limits.requested.disk_mb, ceilings, ARRAY_SIZE(ceilings), label)
		.source;
}

/* The start waits for free space, or goes on. */
static void tell_space(void *data, const char *handle, bool low, const char *text)
{
	const struct prepared *p = data;
	struct ledger_dispatch row = {.home = p->home->path,
		.provider = p->provider,
		.handle = handle,
		.task = p->in->task};

	ledger_space(&row, text);
	if (p->in->show_space)
		p->in->show_space(p->in->show_space_data, handle, text, low);
}

static void prepare(const struct context *c, const struct dispatch *in, const struct decision *d,
	const struct provider *provider, struct prepared *p)
{
	auto_free char *isolation =
		mem_strndup(d->able.isolation.p ? d->able.isolation.p : "", d->able.isolation.len);
	struct record_facts facts = {
		.task_id = in->task ? in->task->id : 0,
		.executor_id = d->executor->id,
		.executor_kind = executor_kind(d->executor),
		.isolation = isolation,
		.project = in->input.project,
		.title = in->title,
		.image_requested = d->run.image ? d->run.image : "",
		.sandbox_sha256 = or_null(d->run.sandbox_sha256),
		.setup_sha256 = or_null(d->run.setup_sha256),
	};

	p->home = &c->home;
	p->in = in;
	p->provider = provider;
	p->record = record_new(&facts);
	fill_request(c, in, d, p);
	json_object_set_new(p->record, "limits", decision_limits_to_json(d));
	decision_warn(d, p->record);
	json_t *supervision = record_supervision(p->record);
	json_object_set_new(supervision, "project", json_exact(provider->project));
	if (in->task)
		json_object_set_new(supervision, "task_claim", json_string(in->task->claim));
	p->start = (struct executor_start){
		.home = c->home.path,
		.request = &p->request,
		.image_origin = origin_of(c, d),
		.harnesses = &d->harnesses,
		.record = p->record,
		.disk_source = disk_source(in, d),
		.timeout_ms = in->timeout_ms,
		.cancel_fd = in->cancel_fd,
		.setup = p->setup,
		.n_setup = d->run.setup.n,
		.show_build = in->show_build,
		.show_build_data = in->show_build_data,
		.min_free_mb = c->config.min_free_disk_mb,
		.space = tell_space,
		.space_data = p,
		.redact = &d->names,
		.material = p->lease->material.lease[0] ? &p->lease->material : NULL,
		.hold = hold,
		.hold_data = p,
	};
}

/* What the store knows of a run before it is decided. */
struct known {
	struct provider provider;
	struct ceilings ceilings; /* without the fleet's */
	struct run_lease lease;
	struct run_egress egress;
};
#define KNOWN_INIT \
	((struct known){ \
		.provider = PROVIDER_INIT, .lease = RUN_LEASE_INIT, .egress = RUN_EGRESS_INIT})

static void known_done(struct known *k)
{
	provider_done(&k->provider);
	run_lease_done(&k->lease);
	run_egress_done(&k->egress);
}

/*
 * The executor by what the store knows of the project, then what goes by the executor: ceilings and
 * grants; and the decision with all of it. One opening.
 */
static int decide(const struct context *c, const struct dispatch *in, struct known *k,
	struct decision *d, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	struct provider *provider = &k->provider;
	struct decision_input input = in->input;
	struct run_lease_who who = {
		.home = c->home.path, .labels = in->labels, .n_labels = in->n_labels};

	if (store_open_existing(c->home.path, &store, err) < 0 ||
		provider_load(store, input.project, provider, err) < 0)
		return -1;
	input.binding = provider->executor;
	input.harness = provider->harness;
	if (decision_choose(c, &input, d, err) < 0)
		return -1;
	who.executor = d->executor->id;
	who.project = provider->project ? provider->project : input.project;
	if (ceilings_load(store, who.executor, who.project, &k->ceilings, err) < 0 ||
		run_lease_find(store, &who, &k->lease, err) < 0 ||
		run_egress_find(store, &who, &k->egress, err) < 0)
		return -1;
	input.offer = &k->lease.offer;
	input.ceilings = &k->ceilings;
	input.egress = &k->egress;
	return decision_make(c, &input, d, err);
}

/* The session under the grant that the file names; who holds it is put on record with the lease. */
static int open_session(
	const struct context *c, struct known *k, const struct decision *d, struct error *err)
{
	const struct run_egress_grant *held = run_egress_held(&k->egress, d->run.grant);

	if (!held)
		return 0;
	if (run_egress_judge(c, d, err) < 0)
		return -1;
	return run_egress_make(&k->egress, &c->config.egress, d->run.grant, err) < 0
		       ? -1
		       : run_lease_add_egress(&k->lease, &k->egress.session, held->expires_at, err);
}

/* One decision, ready to be started. */
struct attempt {
	struct known k;
	struct decision d;
	struct prepared p;
};
#define ATTEMPT_INIT ((struct attempt){.k = KNOWN_INIT, .d = DECISION_INIT})

static void attempt_done(struct attempt *a)
{
	prepared_done(&a->p);
	decision_done(&a->d);
	known_done(&a->k);
}

/*
 * Payloads are opened before the driver looks at mounts and image, since it is handed both at once.
 * Where they fail, what stands before them in the order of §9.1 is asked, and its error wins.
 */
static int refuse_attempt(
	const struct context *c, const struct dispatch *in, struct attempt *a, struct error *err)
{
	auto_error struct error earlier = ERROR_INIT;

	if (!container_driver_of(a->d.executor))
		return -1;
	material_done(&a->k.lease.material);
	prepare(c, in, &a->d, &a->k.provider, &a->p);
	if (container_driver_precheck(a->d.executor, &a->p.start, &earlier) == 0)
		return -1;
	error_move(err, &earlier);
	return error_prefix(err, "executor %s", a->d.executor->id);
}

static int attempt_make(
	const struct context *c, const struct dispatch *in, struct attempt *a, struct error *err)
{
	a->p.lease = &a->k.lease;
	a->p.egress = &a->k.egress;
	if (decide(c, in, &a->k, &a->d, err) < 0)
		return -1;
	if (run_lease_make(&a->k.lease, &a->d, err) < 0 || open_session(c, &a->k, &a->d, err) < 0)
		return refuse_attempt(c, in, a, err);
	prepare(c, in, &a->d, &a->k.provider, &a->p);
	return 0;
}

/* A run, and what it is after a wait. */
struct course {
	const struct context *c;
	const struct dispatch *in;
	struct dispatched *ret;
	struct attempt first, second;
	struct context context; /* of the second */
	bool opened;
	bool again; /* the second counts */
};

static void course_done(struct course *course)
{
	attempt_done(&course->second);
	attempt_done(&course->first);
	if (course->opened)
		context_done(&course->context);
}

static const struct attempt *attempt_of(const struct course *course)
{
	return course->again ? &course->second : &course->first;
}

static int decide_again(void *data, const struct executor **ret_executor,
	const struct executor_start **ret, struct error *err)
{
	struct course *course = data;
	struct attempt *a = &course->second;
	const struct executor *before = course->first.d.executor;

	if (context_open(course->c->home.path, course->in->config, &course->context, err) < 0)
		return -1;
	course->opened = true;
	if (attempt_make(&course->context, course->in, a, err) < 0)
		return -1;
	const struct executor *now = a->d.executor;
	if (now->ops != before->ops || strcmp(now->id, before->id) != 0) {
		error_set(err, ERROR_START_CANCELLED,
			"while the run waited for free space its executor changed from %s to %s",
			before->id, now->id);
		return error_set_remedy(err, "start it again");
	}
	course->again = true;
	a->p.start.ret_supervisor = &course->ret->supervisor;
	*ret_executor = now;
	*ret = &a->p.start;
	return 0;
}

static int run(struct course *course, struct error *err)
{
	const struct context *c = course->c;
	struct attempt *a = &course->first;

	if (attempt_make(c, course->in, a, err) < 0)
		return -1;
	a->p.start.ret_supervisor = &course->ret->supervisor;
	a->p.start.again = decide_again;
	a->p.start.again_data = course;
	if (executor_start(a->d.executor, &a->p.start, course->ret->handle, err) < 0)
		return -1;
	/* Behind the start, which it must not keep waiting. */
	if (attempt_of(course)->k.lease.revocations_due)
		revoke_due_on(&c->home, &c->executors);
	return 0;
}

/* What was decided, and how it went on, into the ledger. */
static void note(const struct context *c, const struct dispatch *in,
	const struct provider *provider, const struct decision *d, const struct dispatched *run,
	const struct error *refusal)
{
	auto_json *warned = json_pack("{s:[]}", "warnings");
	decision_warn(d, warned);
	struct ledger_dispatch row = {
		.home = c->home.path,
		.provider = provider,
		.handle = run->handle,
		.warnings = json_object_get(warned, "warnings"),
		.task = in->task,
	};
	if (!refusal)
		ledger_started(&row);
	else if (!run->handle[0])
		ledger_refused(&row, refusal);
}

/* The one that was chosen or named; where the run came to none, the one that would be meant. */
static const char *executor_of(const struct context *c, const struct dispatch *in,
	const struct provider *provider, const struct decision *d)
{
	if (d->executor)
		return d->executor->id;
	if (in->input.executor_id)
		return in->input.executor_id;
	return provider->executor ? provider->executor : config_default_executor(&c->config);
}

/* Of a run that never had a directory: what its file and the choice of an executor came to. */
static json_t *refused_record(const struct dispatch *in, const struct decision *d)
{
	auto_free char *project = file_resolve(in->input.project);
	auto_free char *isolation =
		mem_strndup(d->able.isolation.p ? d->able.isolation.p : "", d->able.isolation.len);
	const char *image = d->file.spec.image;
	struct record_facts facts = {
		.task_id = in->task ? in->task->id : 0,
		.executor_id = d->executor ? d->executor->id : in->input.executor_id,
		.executor_kind = d->executor ? executor_kind(d->executor) : NULL,
		.isolation = or_null(isolation),
		.project = project ? project : in->input.project,
		.title = in->title,
		.image_requested = image || !d->file.ok ? image : "",
		.sandbox_sha256 = or_null(d->file.sha256),
		.setup_sha256 = or_null(d->file.setup_sha256),
	};
	json_t *record = record_new(&facts);

	decision_warn(d, record);
	return record;
}

int dispatch_run(const struct context *c, const struct dispatch *in, struct dispatched *ret,
	struct error *err)
{
	AUTO(course)
	course = {.c = c, .in = in, .ret = ret, .first = ATTEMPT_INIT, .second = ATTEMPT_INIT};

	*ret = (struct dispatched){.supervisor = -1};
	int r = run(&course, err);
	const struct attempt *a = attempt_of(&course);
	if (r < 0) {
		denial_complete(in->input.project, err);
		audit_refusal(c->home.path, in->input.project,
			executor_of(c, in, &a->k.provider, &a->d), err);
	}
	note(c, in, &a->k.provider, &a->d, ret, r < 0 ? err : NULL);
	if (r < 0 && !ret->handle[0])
		ret->refused = refused_record(in, &a->d);
	return r;
}

static json_t *argv_to_json(const struct argv_line *line)
{
	return json_from_strings(line->argv.v, line->argv.n);
}

static json_t *mounts_to_json(const struct argv_line *line)
{
	json_t *list = json_array();

	for (size_t i = 0; i < line->mounts.n; i++)
		json_array_append_new(
			list, json_pack("{s:o, s:o, s:b}", "source",
				      json_from_string(line->mounts.v[i].source), "target",
				      json_from_string(line->mounts.v[i].target), "read_only",
				      line->mounts.v[i].read_only));
	return list;
}

/* How a disk limit is held, why so, and what it does not cover (disk-and-secrets.md §2, §10). */
static json_t *disk_to_json(const struct context *c, const struct decision *d)
{
	auto_free char *how = mem_strndup(d->able.disk_enforcement.p, d->able.disk_enforcement.len);
	const char *why = c->config.disk_quota ? "project quotas of a filesystem are not used"
					       : "executors.container.disk_quota is off";

	return json_pack("{s:s, s:s, s:[s, s, s, s]}", "enforcement", how, "reason", why,
		"not_covered", "anonymous volumes of the image", "writable local_repo mounts",
		"/tmp (capped itself)", "the image (read-only)");
}

static json_t *limits_to_json(const struct context *c, const struct decision *d)
{
	json_t *limits = decision_limits_to_json(d), *ceilings = json_object();

	for (enum ceiling i = 0; i < CEILING_COUNT; i++)
		json_object_set_new(
			ceilings, ceiling_text(i), effective_limits_to_json(&d->ceilings.of[i]));
	json_object_set_new(limits, "ceilings", ceilings);
	if (d->limits.limits.disk_mb > 0)
		json_object_set_new(limits, "disk", disk_to_json(c, d));
	return limits;
}

/* Nothing but a container has a network that is not this host's. */
static const char *network_mode(const struct context *c, const struct decision *d)
{
	if (d->run.network_off)
		return "none";
	return container_driver_of(d->executor) ? c->config.container.network : "host";
}

/* What is known without an engine. */
static json_t *explain_decision(const struct context *c, const struct decision *d)
{
	AUTO(strv) needs = STRV_INIT(REQUIREMENT_NAMES_MAX);
	json_t *j = json_object();

	requirement_names(&d->need, &needs);
	json_object_set_new(j, "spec", d->file.present ? spec_json(&d->file.spec) : json_null());
	json_object_set_new(j, "executor",
		json_pack("{s:s, s:s}", "id", d->executor->id, "kind", executor_kind(d->executor)));
	json_object_set_new(j, "placement", choice_to_json(&d->choice));
	json_object_set_new(j, "requirements", json_from_strings(needs.v, needs.n));
	json_object_set_new(j, "limits", limits_to_json(c, d));
	json_object_set_new(j, "network",
		json_pack("{s:s, s:o, s:n, s:n}", "mode", network_mode(c, d), "scope",
			json_from_string(d->run.egress_scope), "filter", "proxy"));
	json_object_set_new(j, "env", json_from_strings(d->names.v, d->names.n));
	json_object_set_new(j, "build_network", json_null());
	json_object_set_new(j, "image", json_null());
	json_object_set_new(j, "mounts", json_array());
	json_object_set_new(j, "argv", json_null());
	auto_json *warned = json_pack("{s:[]}", "warnings");
	decision_warn(d, warned);
	json_object_set(j, "warnings", json_object_get(warned, "warnings"));
	return j;
}

/* The verdict, and what the engine's store has for it. */
static json_t *explain_image(
	const struct context *c, const struct decision *d, const struct run_image *image)
{
	const struct image_identity *i = &image->stored.identity;
	struct text written = text_of(image_of(c, d));
	struct image_verdict v;

	image_verdict(&c->config.image_policy, origin_of(c, d), written, &v);
	json_t *j = image_verdict_to_json(&v, written);
	json_object_set_new(j, "run", json_string(image->run));
	json_object_set_new(j, "digest", i->digest[0] ? json_string(i->digest) : json_null());
	json_object_set_new(j, "id", json_string(image->id));
	json_object_set_new(j, "reproducible", json_boolean(i->reproducible));
	if (image->build.key[0]) {
		json_object_set_new(j, "setup_key", json_string(image->build.key));
		json_object_set_new(j, "build_needed", json_boolean(image->build.needed));
	}
	json_object_set_new(j, "harness", image_harness_to_json(&image->stored, &d->harnesses));
	return j;
}

/* One that is made for the run has a kind for its mode, and what its filter comes to. */
static void explain_network(const struct plan_network *n, json_t *network)
{
	if (!plan_network_made(n))
		return;
	json_object_set_new(network, "mode", json_string(network_plan_kind_text(n->kind)));
	json_object_set_new(network, "filter", json_string(egress_mode_text(n->mode)));
}

/* As its supervisor would. */
static void warn_of_network(const struct plan_network *n, bool session, json_t *answer)
{
	struct plan_network_warning list[PLAN_NETWORK_WARNINGS_MAX];
	size_t count = plan_network_warnings(n, session, list);

	for (size_t i = 0; i < count; i++)
		record_warn(answer, list[i].code, "%s", list[i].message);
}

int dispatch_explain(
	const struct context *c, const struct dispatch *in, json_t **ret, struct error *err)
{
	AUTO(known) k = KNOWN_INIT;
	AUTO(decision) d = DECISION_INIT;
	AUTO(prepared) p = {.lease = &k.lease, .egress = &k.egress};
	AUTO(argv_line) line = ARGV_LINE_INIT;
	AUTO(run_image) image = RUN_IMAGE_INIT;
	AUTO(plan_network) network = PLAN_NETWORK_INIT;

	*ret = NULL;
	if (decide(c, in, &k, &d, err) < 0)
		return -1;
	prepare(c, in, &d, &k.provider, &p);
	*ret = explain_decision(c, &d);
	json_object_set_new(json_object_get(*ret, "network"), "proxy",
		run_egress_to_json(&k.egress, d.run.grant));
	json_object_set_new(*ret, "grants", offer_to_json(&k.lease.offer));
	if (!container_driver_of(d.executor))
		return run_egress_judge(c, &d, err);
	if (container_driver_explain(d.executor, &p.start, &line, &image, &network, err) < 0 ||
		run_egress_judge(c, &d, err) < 0)
		return -1;
	explain_network(&network, json_object_get(*ret, "network"));
	warn_of_network(&network, run_egress_held(&k.egress, d.run.grant) != NULL, *ret);
	json_object_set_new(*ret, "image", explain_image(c, &d, &image));
	if (image.build.key[0])
		json_object_set_new(*ret, "build_network", json_string(image.build.network));
	run_image_warn(&image, *ret);
	if (line.standalone)
		json_object_set_new(*ret, "ungated",
			capabilities_ungated_to_json(
				container_driver_of(d.executor)->runtime.engine));
	json_object_set_new(*ret, "mounts", mounts_to_json(&line));
	json_object_set_new(*ret, "argv", argv_to_json(&line));
	return 0;
}

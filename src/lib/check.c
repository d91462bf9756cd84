/* Whether a container executor works: its engine, its images, everything a run needs. */
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/container/preflight.h"
#include "lib/container.h"
#include "lib/image.h"
#include "lib/strings.h"

int cloop_container_health_check(struct cloop_container *container,
	const struct cloop_cancel *cancel, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	LIB_GIVE_UP(cancel);
	struct lib_call call;

	if (LIB_MISSING(e, container) || lib_cancel_check(cancel, e) < 0)
		return -1;
	lib_call_begin(container, cancel, &call);
	return executor_health_check(&call.executor, e);
}

/* Lives as long as `held`; "" = there is none. */
static const char *text_in(const json_t *held, const char *key)
{
	return lib_text(json_get_string(held, key));
}

/* ---- Preflight ---- */

/* What a caller gets, and what its members point into. */
struct report {
	struct cloop_preflight_report shown; /* first: its address is the object's */
	json_t *held;
	struct cloop_finding *findings;
};

static struct cloop_preflight_report *give_report(json_t *held)
{
	struct report *r = mem_alloc(sizeof(*r));
	const json_t *findings = json_object_get(held, "findings");
	size_t n = json_array_size(findings);

	r->held = held;
	r->findings = mem_grow(NULL, n + 1, sizeof(*r->findings));
	for (size_t i = 0; i < n; i++) {
		const json_t *f = json_array_get(findings, i);
		r->findings[i] = (struct cloop_finding){.name = text_in(f, "name"),
			.level = text_in(f, "level"),
			.message = text_in(f, "message"),
			.fix = text_in(f, "fix")};
	}
	r->shown = (struct cloop_preflight_report){
		.executor_id = text_in(held, "executor_id"),
		.runtime = text_in(held, "runtime"),
		.image = text_in(held, "image"),
		.work_dir = text_in(held, "work_dir"),
		.findings = r->findings,
		.n_findings = n,
	};
	return &r->shown;
}

int cloop_container_preflight(struct cloop_container *container, const struct cloop_cancel *cancel,
	const char *work_dir, struct cloop_preflight_report **report, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	LIB_GIVE_UP(cancel);
	auto_json *held = NULL;
	struct lib_call call;

	if (LIB_MISSING(e, container, report) || lib_cancel_check(cancel, e) < 0)
		return -1;
	lib_call_begin(container, cancel, &call);
	if (executor_preflight(&call.executor, lib_given(work_dir), &held, e) < 0 ||
		lib_cancel_check(cancel, e) < 0)
		return -1;
	*report = give_report(TAKE_PTR(held));
	return 0;
}

void cloop_preflight_report_free(struct cloop_preflight_report *report)
{
	struct report *r = (struct report *)report;

	if (!r)
		return;
	json_decref(r->held);
	free(r->findings);
	free(r);
}

static bool fails(const struct cloop_finding *f)
{
	return text_is(text_of(f->level), CLOOP_LEVEL_FAIL);
}

bool cloop_preflight_ok(const struct cloop_preflight_report *report)
{
	for (size_t i = 0; report && i < report->n_findings; i++)
		if (fails(&report->findings[i]))
			return false;
	return report != NULL;
}

int cloop_preflight_err(const struct cloop_preflight_report *report, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	AUTO(preflight_report) failed = {.n = 0};

	if (LIB_MISSING(e, report))
		return -1;
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct cloop_finding *f = &report->findings[i];
		if (fails(f))
			preflight_report_add(
				&failed, f->name, PREFLIGHT_FAIL, f->fix, "%s", f->message);
	}
	return preflight_err(&failed, e);
}

/* ---- Smoke test ---- */

/* What a caller gets, and what its members point into. */
struct smoke {
	struct cloop_smoke_result shown; /* first: its address is the object's */
	json_t *held;
};

static struct cloop_smoke_result *give_smoke(json_t *held)
{
	struct smoke *s = mem_alloc(sizeof(*s));

	s->held = held;
	s->shown = (struct cloop_smoke_result){
		.image = text_in(held, "image"),
		.runtime = text_in(held, "runtime"),
		.oci_runtime = text_in(held, "oci_runtime"),
		.container_name = text_in(held, "container_name"),
		.output = text_in(held, "output"),
		.exit_code = (int)json_get_int(held, "exit_code", -1),
		.duration_ms = json_get_int(held, "duration_ms", -1),
		.mounted_binary = text_in(held, "mounted_binary"),
	};
	return &s->shown;
}

int cloop_container_smoke_test(struct cloop_container *container, const struct cloop_cancel *cancel,
	const char *work_dir, struct cloop_smoke_result **result, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	LIB_GIVE_UP(cancel);
	json_t *held = NULL;
	struct lib_call call;

	if (result)
		*result = NULL;
	if (LIB_MISSING(e, container, result) || lib_cancel_check(cancel, e) < 0)
		return -1;
	lib_call_begin(container, cancel, &call);
	int r = executor_smoke_test(&call.executor, lib_given(work_dir), &held, e);
	if (held && result)
		*result = give_smoke(held);
	/* What gave up within its start says so; here it is not the caller who started a run. */
	if (r < 0 && cancel && error_is(e, ERROR_START_CANCELLED))
		e->code = ERROR_CANCELLED;
	return r;
}

void cloop_smoke_result_free(struct cloop_smoke_result *result)
{
	struct smoke *s = (struct smoke *)result;

	if (!s)
		return;
	json_decref(s->held);
	free(s);
}

/* ---- Images ---- */

static int look_up(struct cloop_container *container, const struct cloop_cancel *cancel,
	const char *ref, struct cloop_image_identity **ret, struct error *err)
{
	LIB_GIVE_UP(cancel);
	struct lib_call call;

	if (lib_cancel_check(cancel, err) < 0)
		return -1;
	lib_call_begin(container, cancel, &call);
	return lib_image_look_up(&call.driver.runtime, lib_text(ref), ret, err);
}

int cloop_container_resolve_digest(struct cloop_container *container,
	const struct cloop_cancel *cancel, const char *ref, char **digest, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	struct cloop_image_identity *identity = NULL;

	if (LIB_MISSING(e, container, digest))
		return -1;
	int r = look_up(container, cancel, ref, &identity, e);
	if (r == 0)
		*digest = mem_strdup(identity->repo_digest);
	cloop_image_identity_free(identity);
	return r;
}

int cloop_container_resolve_image(struct cloop_container *container,
	const struct cloop_cancel *cancel, const char *ref, char **pinned, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	struct cloop_image_identity *identity = NULL;

	if (LIB_MISSING(e, container, pinned))
		return -1;
	int r = look_up(container, cancel, ref, &identity, e);
	if (r >= 0)
		*pinned = mem_strdup(cloop_image_identity_pinned(identity));
	cloop_image_identity_free(identity);
	return r < 0 ? -1 : 0;
}

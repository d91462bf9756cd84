#include "run/lease-preview.h"

#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "image/reference.h"
#include "run/provider.h"
#include "run/run-lease.h"
#include "spec/spec-load.h"
#include "store/store.h"
#include "sys/file.h"
#include "vault/time-json.h"

static int judge_reference(struct text t, struct error *err)
{
	struct image_reference ignored;

	return image_reference_parse(t, &ignored, err);
}

static json_t *kinds_of(const json_t *granted)
{
	json_t *list = json_array(), *entry;
	size_t i;

	for (int kind = 0; kind < SECRET_KIND_COUNT; kind++) {
		const char *name = secret_kind_text((enum secret_kind)kind);
		bool has = false;
		json_array_foreach(granted, i, entry) has =
			has || strcmp(json_get_string(entry, "kind"), name) == 0;
		if (has)
			json_array_append_new(list, json_string(name));
	}
	return list;
}

static json_t *describe(const struct run_lease *l, json_t *report)
{
	json_t *j = json_pack("{s:s, s:s, s:o}", "project", l->project, "executor", l->executor,
		"kinds", kinds_of(json_object_get(report, "granted")));
	auto_json *names = lease_names(&l->material);

	json_object_update(j, report);
	json_object_update(j, names);
	json_object_set_new(j, "expires_at", time_json(l->material.expires_at));
	json_object_set_new(j, "hard_end", time_json(l->material.hard_end));
	return j;
}

static int make(
	struct store *s, struct run_lease *l, const struct spec_result *file, struct error *err)
{
	struct lease_question q = {
		.store = s,
		.home = l->home,
		.offer = &l->offer,
		.spec = file->present ? &file->spec : NULL,
		.now = &l->now,
		.dry = true,
	};

	return lease_make(&q, &l->material, &l->report, err);
}

static int preview(
	const struct lease_preview *p, const char *project, json_t **ret, struct error *err)
{
	static const struct spec_checks checks = {.image = judge_reference};
	AUTO(spec_result) file;
	AUTO_PTR(store) store = NULL;
	AUTO(run_lease) lease = RUN_LEASE_INIT;
	AUTO(provider) known = PROVIDER_INIT;
	struct run_lease_who who = {.home = p->home, .project = project, .executor = p->executor};
	auto_json *nothing = json_pack("{s:[], s:[], s:[]}", "granted", "denied", "filtered");

	spec_result_init(&file);
	if (spec_load_dir(project, &checks, &file, err) < 0)
		return -1;
	if (!file.ok)
		return spec_result_error(&file, err);
	if (store_open_existing(p->home, &store, err) < 0 ||
		provider_load(store, project, &known, err) < 0)
		return -1;
	if (!who.executor)
		who.executor = known.executor ? known.executor : p->otherwise;
	if (run_lease_find(store, &who, &lease, err) < 0 ||
		(lease.offer.n > 0 && make(store, &lease, &file, err) < 0))
		return -1;
	*ret = describe(&lease, lease.report ? lease.report : nothing);
	return 0;
}

int lease_preview(const struct lease_preview *p, json_t **ret, struct error *err)
{
	auto_free char *project = file_resolve(p->project);
	struct stat st;

	if (!project || stat(project, &st) < 0 || !S_ISDIR(st.st_mode))
		return error_set(
			err, ERROR_NOT_A_PROJECT, "%s is no directory", quoted_string(p->project));
	return preview(p, project, ret, err);
}

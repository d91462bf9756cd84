/* Starting a run for a caller (include/cloop/container.h). */
#include <string.h>

#include "base/mem.h"
#include "executor/rundir/record.h"
#include "executor/rundir/rundir.h"
#include "lib/container.h"
#include "lib/spec.h"
#include "lib/strings.h"
#include "limits/effective.h"
#include "run/import.h"
#include "sys/file.h"
#include "vault/device-open.h"

/* One start. */
struct starting {
	const struct cloop_spec *spec;
	struct lib_call call;
	struct candidate able;
	struct lib_spec read;
	json_t *record;
};

static void starting_done(struct starting *s)
{
	lib_spec_done(&s->read);
	json_decref(s->record);
}

/* What the host has under the names of granted devices (container-driver.md §17.1). */
static int find_devices(struct starting *s, struct error *err)
{
	if (s->spec->n_devices > MATERIAL_DEVICES_MAX)
		return error_set(
			err, ERROR_DEVICES_TOO_MANY, "more than %d devices", MATERIAL_DEVICES_MAX);
	for (size_t i = 0; i < s->spec->n_devices; i++) {
		const struct cloop_device *in = &s->spec->devices[i];
		AUTO(device_found) found = {.path = NULL};
		if (device_open_find(lib_text(in->source), &found, err) < 0 ||
			device_node_judge(&found.node, false, found.path, err) < 0)
			return -1;
		struct material_device device = {
			.name = mem_strdup(lib_text(in->name)),
			.source = TAKE_PTR(found.path),
			.target = mem_strdup(
				lib_given(in->target) ? in->target : lib_text(in->source)),
			.mode = mem_strdup(lib_given(in->permissions) ? in->permissions : "r"),
			.block = found.node.type == DEVICE_BLOCK,
			.rdev = found.rdev,
		};
		(void)!material_add_device(&s->read.material, &device);
	}
	return 0;
}

static enum image_origin origin_of(const struct starting *s)
{
	if (s->spec->image && s->spec->image[0])
		return IMAGE_ORIGIN_PROJECT;
	return provenance_origin(
		&s->call.driver.settings.provenance->published, s->read.request.image);
}

/* The first record: what is known before anything happens (ARCHITECTURE.md §6). */
static void make_record(struct starting *s)
{
	const struct container_request *r = &s->read.request;
	auto_free char *isolation =
		mem_strndup(s->able.isolation.p ? s->able.isolation.p : "", s->able.isolation.len);
	auto_free char *project = file_resolve(s->spec->work_dir);
	struct record_facts facts = {
		.executor_id = s->call.executor.id,
		.executor_kind = executor_kind(&s->call.executor),
		.isolation = isolation,
		.project = project ? project : s->spec->work_dir,
		.title = lib_given(s->spec->title),
		.image_requested = lib_text(s->spec->image),
		.sandbox_sha256 = lib_given(s->spec->sandbox_sha256),
	};

	s->record = record_new(&facts);
	json_object_set_new(record_supervision(s->record), "project", json_exact(facts.project));
	if (r->has_limits) {
		json_object_set_new(s->record, "limits",
			json_pack("{s:o, s:o}", "effective", effective_limits_to_json(&r->limits),
				"requested", effective_limits_to_json(&r->limits)));
	}
}

static int run(struct starting *s, char handle[EXECUTOR_HANDLE_SIZE], struct error *err)
{
	const struct material *m = &s->read.material;
	struct executor_start start = {
		.home = s->call.home,
		.request = &s->read.request,
		.image_origin = origin_of(s),
		.record = s->record,
		.disk_source = "spec",
		.timeout_ms = s->spec->timeout_ms,
		.cancel_fd = s->call.cancel_fd,
		.setup = s->read.setup,
		.n_setup = s->read.n_setup,
		.redact = &s->read.redact,
		.material = m->lease[0] || m->n_devices > 0 ? m : NULL,
	};

	return executor_start(&s->call.executor, &start, handle, err);
}

/* Who only starts runs and never looks at one still takes their ends over. */
static void import(const struct lib_call *call)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO(home) h = HOME_INIT;

	if (home_open(call->home, &h, &ignored) == 0)
		import_all(&h);
}

static int check(const struct cloop_cancel *cancel, struct error *err)
{
	return cloop_cancel_is_set(cancel)
		       ? error_set(err, ERROR_START_CANCELLED, "the start was cancelled")
		       : 0;
}

int cloop_container_start(struct cloop_container *container, const struct cloop_cancel *cancel,
	const struct cloop_spec *spec, char handle[CLOOP_HANDLE_SIZE], struct cloop_error *err)
{
	LIB_ERROR(e, err);
	LIB_GIVE_UP(cancel);
	AUTO(starting) s = {.spec = spec, .read = LIB_SPEC_INIT};

	if (handle)
		handle[0] = '\0';
	if (LIB_MISSING(e, container, spec, handle) || check(cancel, e) < 0)
		return -1;
	lib_call_begin(container, cancel, &s.call);
	executor_capabilities(&s.call.executor, &s.able);
	if (lib_spec_read(spec, &s.call.driver.options, s.able.resource_limits, &s.read, e) < 0 ||
		find_devices(&s, e) < 0)
		return -1;
	make_record(&s);
	int r = run(&s, handle, e);
	if (r < 0 && handle)
		handle[0] = '\0';
	if (r < 0 && error_is(e, ERROR_CANCELLED))
		e->code = ERROR_START_CANCELLED;
	import(&s.call);
	return r;
}

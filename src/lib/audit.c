/*
 * What a start would do, told without an engine: the seams that make the boundary testable where no
 * engine is installed (include/cloop/container.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "executor/container/driver/derived-image.h"
#include "executor/container/supervise/stage.h"
#include "executor/rundir/record.h"
#include "executor/rundir/stage-wipe.h"
#include "image/setup.h"
#include "lib/container.h"
#include "lib/options.h"
#include "lib/runtime.h"
#include "lib/spec.h"
#include "lib/strings.h"
#include "sys/file.h"

#define TEMPORARY "/tmp/cloop-audit-XXXXXX"

/* An executor as the options describe it, on an engine that nobody looks for. */
struct audit {
	struct lib_options options;
	struct provenance_rules provenance;
	struct executor *executor;
	char temporary[sizeof(TEMPORARY)]; /* home of its own, removed at the end; "" = none */
	struct lib_spec spec;
	json_t *record;
};
#define AUDIT_INIT ((struct audit){.spec = {.material = {.lease = ""}}})

static void remove_temporary(const char *path)
{
	auto_error struct error ignored = ERROR_INIT;

	auto_fd int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tmp >= 0 && file_remove_tree_at(tmp, path + strlen("/tmp/"), &ignored) < 0)
		error_clear(&ignored);
}

static void audit_done(struct audit *a)
{
	lib_spec_done(&a->spec);
	json_decref(a->record);
	executor_free(a->executor);
	lib_options_done(&a->options);
	if (a->temporary[0])
		remove_temporary(a->temporary);
}

static int begin_home(struct audit *a, struct error *err)
{
	if (a->options.home)
		return 0;
	memcpy(a->temporary, TEMPORARY, sizeof(TEMPORARY));
	if (mkdtemp(a->temporary)) {
		a->options.home = mem_strdup(a->temporary);
		return 0;
	}
	a->temporary[0] = '\0';
	return error_set_errno(err, ERROR_IO, errno, "making a temporary home");
}

static int begin(struct audit *a, const struct cloop_container_options *options,
	const struct cloop_audit_runtime *engine, const struct cloop_spec *spec, struct error *err)
{
	AUTO(runtime) runtime = RUNTIME_INIT;
	struct candidate able;

	if (lib_options_read(options, &a->options, err) < 0)
		return -1;
	struct container_settings settings = {.filter = &a->options.filter,
		.policy = &a->options.policy,
		.provenance = &a->provenance};
	if (lib_runtime_read(
		    engine->name, lib_text(engine->name), engine->rootless, &runtime, err) < 0 ||
		container_driver_open_for(
			NULL, &a->options.options, &settings, &runtime, &a->executor, err) < 0)
		return -1;
	executor_capabilities(a->executor, &able);
	return lib_spec_read(spec, &a->options.options, able.resource_limits, &a->spec, err);
}

/* The line of a start, and where its secrets would lie. */
static int build(struct audit *a, const char *work_dir, struct argv_line *ret, char **ret_stage,
	struct error *err)
{
	struct record_facts facts = {.executor_id = a->executor->id};

	a->spec.request.work_dir = text_of(lib_text(work_dir));
	a->record = record_new(&facts);
	struct executor_start start = {
		.home = a->options.home,
		.request = &a->spec.request,
		.image_origin = text_is(a->spec.request.image, a->options.options.image)
					? IMAGE_ORIGIN_OPERATOR
					: IMAGE_ORIGIN_PROJECT,
		.record = a->record,
		.cancel_fd = -1,
		.redact = &a->spec.redact,
		.material = a->spec.material.lease[0] ? &a->spec.material : NULL,
	};
	return container_driver_audit(a->executor, &start, ret, ret_stage, err);
}

/* Of a spec that names no directory, or another one. */
static struct cloop_spec in_directory(const struct cloop_spec *spec, const char *work_dir)
{
	struct cloop_spec ret = *spec;

	ret.work_dir = work_dir;
	return ret;
}

int cloop_container_audit_run_argv(const struct cloop_container_options *options,
	const struct cloop_audit_runtime *runtime, const char *work_dir,
	const struct cloop_spec *spec, char ***argv, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	AUTO(audit) a = AUDIT_INIT;
	AUTO(argv_line) line = ARGV_LINE_INIT;
	auto_free char *stage = NULL;

	if (LIB_MISSING(e, options, runtime, spec, argv))
		return -1;
	struct cloop_spec there = in_directory(spec, work_dir);
	if (begin(&a, options, runtime, &there, e) < 0 || begin_home(&a, e) < 0 ||
		build(&a, work_dir, &line, &stage, e) < 0)
		return -1;
	*argv = lib_strings_give(&line.argv);
	return 0;
}

/* The build has the words of the engine that the options name, else podman's. */
int cloop_container_audit_build_network(const struct cloop_container_options *options,
	const struct cloop_spec *spec, char **network, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	AUTO(audit) a = AUDIT_INIT;
	char word[DERIVED_NETWORK_SIZE];
	struct cloop_audit_runtime engine = {.name = CLOOP_RUNTIME_PODMAN};

	if (LIB_MISSING(e, options, spec, network))
		return -1;
	if (text_ends(text_of(lib_text(options->runtime)), CLOOP_RUNTIME_DOCKER))
		engine.name = CLOOP_RUNTIME_DOCKER;
	if (begin(&a, options, &engine, spec, e) < 0 ||
		(a.spec.n_setup > 0 && setup_check(a.spec.setup, a.spec.n_setup, e) < 0))
		return -1;
	derived_image_network(container_driver_of(a.executor), &a.spec.request, word);
	*network = mem_strdup(word);
	return 0;
}

/* ---- Staging ---- */

struct cloop_staging {
	struct audit audit;
	struct home home;
	struct rundir run; /* what is staged is on record in it, as in every run */
	struct argv_line line;
	char *stage;
	const char *dirs[2];
};

void cloop_staging_cleanup(struct cloop_staging *s)
{
	auto_error struct error ignored = ERROR_INIT;

	if (!s)
		return;
	if (s->run.fd >= 0 && (stage_wipe_run(&s->run, &ignored) < 0 ||
				      rundir_remove(&s->home, s->run.handle, &ignored) < 0))
		error_clear(&ignored);
	rundir_done(&s->run);
	home_done(&s->home);
	argv_line_done(&s->line);
	free(s->stage);
	audit_done(&s->audit);
	free(s);
}

static int stage(struct cloop_staging *s, const char *work_dir, struct error *err)
{
	const struct material *m = &s->audit.spec.material;
	struct stage_file files[MATERIAL_FILES_MAX];
	AUTO(stage) made = STAGE_INIT;
	struct stat st;

	if (!s->stage)
		return 0;
	if (stat(work_dir, &st) < 0)
		return error_set_errno(err, ERROR_IO, errno, "looking at %s", work_dir);
	made.chown = !container_driver_of(s->audit.executor)->runtime.rootless && geteuid() == 0;
	made.uid = st.st_uid;
	made.gid = st.st_gid;
	for (size_t i = 0; i < m->n_files; i++)
		files[i] = (struct stage_file){.name = m->files[i].name,
			.mode = m->files[i].mode,
			.content = secret_text(&m->files[i].content)};
	if (home_open(s->audit.options.home, &s->home, err) < 0 ||
		rundir_create(&s->home, &s->run, err) < 0)
		return -1;
	s->dirs[0] = s->stage;
	return stage_make(&made, &s->run, s->stage, files, m->n_files, err);
}

int cloop_container_audit_secret_staging(const struct cloop_container_options *options,
	const struct cloop_audit_runtime *runtime, const char *work_dir,
	const struct cloop_spec *spec, struct cloop_staging **staging, struct cloop_error *err)
{
	LIB_ERROR(e, err);

	if (LIB_MISSING(e, options, runtime, spec, staging))
		return -1;
	struct cloop_spec there = in_directory(spec, work_dir);
	struct cloop_staging *s = mem_alloc(sizeof(*s));
	s->audit = AUDIT_INIT;
	s->home = HOME_INIT;
	s->run = RUNDIR_INIT;
	if (begin(&s->audit, options, runtime, &there, e) < 0 || begin_home(&s->audit, e) < 0 ||
		build(&s->audit, work_dir, &s->line, &s->stage, e) < 0 ||
		stage(s, work_dir, e) < 0) {
		cloop_staging_cleanup(s);
		return -1;
	}
	*staging = s;
	return 0;
}

const char *const *cloop_staging_argv(const struct cloop_staging *staging)
{
	return staging ? (const char *const *)staging->line.argv.v : lib_strings_none();
}

const char *const *cloop_staging_dirs(const struct cloop_staging *staging)
{
	return staging ? staging->dirs : lib_strings_none();
}

#include "run/sandbox-run.h"

#include "base/json.h"
#include "base/mem.h"
#include "executor/rundir/record.h"
#include "executor/rundir/rundir.h"
#include "run/project-file.h"
#include "sys/log.h"

/* Members of the file and of the record they come from; the words of a task's artifact. */
static const struct {
	const char *name, *member;
} members[] = {
	{"handle", "handle"},
	{"task_id", "task_id"},
	{"title", "title"},
	{"executor_id", "executor_id"},
	{"executor_kind", "executor_kind"},
	{"isolation", "isolation"},
	{"sandbox_spec_sha256", "sandbox_sha256"},
	{"sandbox_image_requested", "image_requested"},
	{"sandbox_image", "image"},
	{"sandbox_image_digest", "image_digest"},
	{"sandbox_reproducible", "reproducible"},
	{"sandbox_setup_sha256", "setup_sha256"},
};

static int write_file(const struct home *home, const char *handle, struct error *err)
{
	AUTO(rundir) run = RUNDIR_INIT;
	auto_json *file = json_object();

	if (rundir_open(home, handle, &run, err) < 0)
		return -1;
	auto_json *record = rundir_read(&run, RECORD_FILE, err);
	if (!record)
		return -1;
	auto_free char *project = json_exact_bytes(
		json_object_get(json_object_get(record, "supervision"), "project"));
	if (!project)
		return error_set(err, ERROR_IO, "its record names no project");
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		json_object_set(file, members[i].name, json_object_get(record, members[i].member));
	auto_free char *text = json_write_pretty(file);
	auto_free char *line = mem_printf("%s\n", text);
	struct project_file where = {project, NULL, "sandbox-run.json", false};
	return project_file_write(&where, text_of(line), err) < 0 ? -1 : 0;
}

void sandbox_run_write(const struct home *home, const char *handle)
{
	auto_error struct error err = ERROR_INIT;

	if (write_file(home, handle, &err) < 0)
		log_warning(
			"run %s: .cloop/sandbox-run.json is not written: %s", handle, err.message);
}

#include "run/look.h"

#include <string.h>

#include "base/json.h"
#include "executor/rundir/record.h"
#include "executor/rundir/rundir.h"
#include "run/claimed-task.h"
#include "run/follow.h"
#include "run/import.h"
#include "sys/clock.h"

enum { AGAIN_MS = 20, SETTLE_MS = 1000, LOST_MS = 5000 };

void look_at_runs(const struct home *home)
{
	follow_adopt_all(home);
	import_all(home);
	claimed_task_settle_all(home);
}

static json_t *read_record(const struct home *home, const char *handle, struct rundir *run)
{
	auto_error struct error ignored = ERROR_INIT;

	return rundir_open(home, handle, run, &ignored) < 0
		       ? NULL
		       : rundir_read(run, RECORD_FILE, &ignored);
}

/* Of a task, not over, and without supervisor: for how long to wait; 0 = not at all. */
static int64_t patience_with(const struct home *home, const char *handle)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;
	auto_json *record = read_record(home, handle, &run);

	if (!record || record_final(record) || json_get_int(record, "task_id", 0) == 0 ||
		rundir_supervised(&run, &ignored) != 0)
		return 0;
	const char *boot = json_get_string(json_object_get(record, "supervision"), "boot_id");
	return boot && strcmp(boot, clock_boot_id()) != 0 ? LOST_MS : SETTLE_MS;
}

static bool over(const struct home *home, const char *handle)
{
	AUTO(rundir) run = RUNDIR_INIT;
	auto_json *record = read_record(home, handle, &run);

	return !record || record_final(record);
}

void look_at_tasks(const struct home *home)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) handles = STRV_INIT(RUNDIR_RUNS_MAX);
	AUTO(strv) adopted = STRV_INIT(RUNDIR_RUNS_MAX);
	int64_t patience = 0;

	if (rundir_handles(home, &handles, &err) < 0)
		return;
	strv_foreach (handle, &handles) {
		int64_t one = patience_with(home, *handle);
		if (one == 0)
			continue;
		strv_add(&adopted, *handle);
		patience = one > patience ? one : patience;
	}
	follow_adopt_all(home);
	int64_t until = clock_boottime_ms() + patience;
	strv_foreach (handle, &adopted)
		while (!over(home, *handle) && clock_boottime_ms() < until)
			clock_sleep_ms(AGAIN_MS);
	look_at_runs(home);
}

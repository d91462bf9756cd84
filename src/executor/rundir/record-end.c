#include "executor/rundir/record-end.h"

#include <sys/stat.h>

#include "executor/rundir/stage-wipe.h"
#include "sys/clock.h"
#include "sys/log.h"

enum { WRITE_ATTEMPTS = 20, WRITE_PAUSE_MS = 100 };

void record_end_result(json_t *record, const struct classify_result *r)
{
	record_set_state(record, run_state_text(r->state));
	json_object_set_new(record, "outcome", json_string(run_outcome_text(r->outcome)));
	json_object_set_new(
		record, "exit_code", r->exit_code < 0 ? json_null() : json_integer(r->exit_code));
	json_object_set_new(record, "signal", r->signal ? json_integer(r->signal) : json_null());
	json_object_set_new(record_supervision(record), "cli_exit", json_integer(r->cli_exit));
	if (r->warning_oom_kill)
		record_warn(record, "oom_kill", "a process of the run was killed: out of memory");
}

void record_end_failure(json_t *record, const char *outcome, const struct error *err)
{
	record_set_state(record, "failed");
	json_object_set_new(record, "outcome", json_string(outcome));
	record_set_error(record, err);
	json_object_set_new(record_supervision(record), "cli_exit",
		json_integer(error_code_run_exit(err->code)));
}

void record_end_log(json_t *record, struct log_stats stats)
{
	json_t *log = json_object_get(record, "log");

	json_object_set_new(log, "bytes", json_integer((json_int_t)stats.bytes));
	json_object_set_new(log, "dropped_bytes", json_integer((json_int_t)stats.dropped_bytes));
	json_object_set_new(log, "last_seq", json_integer((json_int_t)stats.last_seq + 1));
	if (stats.write_failed)
		record_warn(record, "log_write_failed",
			"the log could not take all output: %llu bytes are missing",
			(unsigned long long)stats.dropped_bytes);
}

/* Somebody removed the run's directory: nothing can be written there, and nobody can read it. */
static bool is_gone(const struct rundir *run)
{
	struct stat st;

	return fstat(run->fd, &st) == 0 && st.st_nlink == 0;
}

int record_end_write(const struct rundir *run, json_t *record)
{
	for (unsigned i = 0; i < WRITE_ATTEMPTS; i++) {
		auto_error struct error err = ERROR_INIT;
		if (rundir_write(run, RECORD_FILE, record, true, &err) == 0 || is_gone(run))
			return 0;
		log_warning("%s", err.message);
		clock_sleep_ms(WRITE_PAUSE_MS);
	}
	return 1;
}

static void end_lost(const struct rundir *run, json_t *record, const char *left, bool power_cut)
{
	auto_error struct error lost = ERROR_INIT;

	error_set(&lost, ERROR_LOST, "%s",
		power_cut
			? "the machine stopped before what was decided for the run was on its disk"
			: "what was decided for the run (request.json) is damaged or gone, and its "
			  "supervisor dead: nobody can take it over");
	if (left && !power_cut)
		error_set_remedy(&lost, "cloop executor reap removes its container, which may run "
					"still; cloop logs has its output");
	record_end_failure(record, "lost", &lost);
	if (left)
		record_warn(record, "container_left", "%s", left);
	record_set_time(record, "finished_at", clock_realtime_ns());
	rundir_release(run);
	(void)!record_end_write(run, record);
}

bool record_end_undecided(const struct rundir *run, json_t *record, const char *left)
{
	auto_error struct error err = ERROR_INIT;
	struct text boot = json_get_text(record_supervision(record), "boot_id");

	if (!rundir_damaged(run, REQUEST_FILE))
		return false;
	bool power_cut = boot.p && !text_is(boot, clock_boot_id());
	if (stage_wipe_run(run, &err) < 0)
		log_warning("%s", err.message);
	if (!record_final(record))
		end_lost(run, record, left, power_cut);
	rundir_drop_leftovers(run);
	return true;
}

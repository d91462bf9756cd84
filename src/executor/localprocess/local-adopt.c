/*
 * Taking over a host process whose supervisor died (container-driver.md §16.2). It cannot go on:
 * its first process died with the supervisor, and nobody could tell its exit status.
 */
#include "executor/localprocess/local-supervisor.h"
#include "sys/clock.h"

enum { ROUNDS_MAX = 500, ROUND_MS = 10 };

/* What the dead supervisor put on record about signals, requests and the end. */
static void restore(struct local_supervisor *s)
{
	const json_t *v = record_supervision(s->record);
	int why = stop_why_from_text(json_get_text(v, "why"));

	s->why = why < 0 ? STOP_NONE : (enum stop_why)why;
	s->why_delivered = json_get_bool(v, "delivered", false);
	s->interrupt_sent = json_get_bool(v, "interrupt_sent", false);
	s->terminate_sent = json_get_bool(v, "terminate_sent", false);
	s->wait_status = json_get_int(v, "wait_status", -1);
	s->first.pid = (pid_t)json_get_int(v, "pid", 0);
	s->first.start = (uint64_t)json_get_int(v, "start_ticks", 0);
}

static void end_processes(struct local_supervisor *s)
{
	for (unsigned i = 0; i < ROUNDS_MAX; i++) {
		if (local_process_kill_run(&s->first, s->run.fd) == 0)
			return;
		clock_sleep_ms(ROUND_MS);
	}
	record_warn(s->record, "processes_left", "processes of the run could not be ended");
}

/*
 * What is still in the pipes. Values that have to be masked died with the supervisor: then nothing
 * is read.
 */
static void rescue_output(struct local_supervisor *s)
{
	output_note(&s->output, "the supervisor of this run died; what the run had started was "
				"ended, and some of its output may be missing");
	if (s->plan.redact.n > 0)
		for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
			close(s->output.streams[i].fd);
			s->output.streams[i].fd = -1;
		}
}

static void fail(
	struct local_supervisor *s, const char *outcome, enum error_code code, const char *message)
{
	error_set(&s->failure, code, "%s", message);
	s->failure_outcome = outcome;
}

/* The workload may have run: whoever is left of it is ended. */
static void end_released(struct local_supervisor *s, bool this_boot)
{
	auto_error struct error err = ERROR_INIT;

	if (s->wait_status < 0)
		fail(s, "lost", ERROR_LOST, "the supervisor died, and the run with it");
	if (!this_boot) {
		json_object_del(record_supervision(s->record), "started_boottime_ms");
		return;
	}
	/* Open before the last writer is killed: a pipe without anybody is empty. */
	bool open = output_open(&s->output, false, 0, 0, &err) == 0;
	if (s->first.pid > 0)
		end_processes(s);
	if (open)
		rescue_output(s);
}

void local_adopt(struct local_supervisor *s)
{
	const json_t *v = record_supervision(s->record);

	restore(s);
	if (record_final(s->record)) {
		s->phase = LOCAL_OVER;
		local_finish_clean(s);
		return;
	}
	if (record_rebuilt(s->record)) {
		fail(s, "lost", ERROR_LOST, RECORD_REBUILT_LOST);
		record_warn(s->record, "processes_left",
			"the first process died with the supervisor; which others the run had "
			"is not known, and they may go on");
	} else if (json_get_bool(v, "released", false))
		end_released(s, text_is(json_get_text(v, "boot_id"), clock_boot_id()));
	else
		fail(s, "start_failed", ERROR_START_CANCELLED,
			"the supervisor died before the workload was let go");
	local_finish_now(s);
}

/*
 * Collecting processes, and the end of a run: first process gone, the rest killed, pipes drained,
 * classified, final record, `end` frame - here the callers are answered.
 */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "executor/localprocess/local-supervisor.h"
#include "executor/rundir/record-end.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/log.h"

/* A killed process may take this long to be gone (its memory, a device it waits for). */
enum { SWEEP_FOR_MS = 10000, SWEEP_EVERY_MS = 100 };

static void add_usage(struct local_supervisor *s, const struct rusage *u)
{
	s->cpu_us += (int64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000 +
		     u->ru_utime.tv_usec + u->ru_stime.tv_usec;
	if (u->ru_maxrss > s->maxrss_kib)
		s->maxrss_kib = u->ru_maxrss;
}

/* Collects whoever has ended. True: there is nobody left. */
static bool collect(struct local_supervisor *s)
{
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		add_usage(s, &usage);
		if (pid == s->first.pid)
			s->wait_status = status;
	}
	return pid < 0 && errno == ECHILD;
}

static void record_usage(struct local_supervisor *s)
{
	json_t *usage = json_object_get(s->record, "usage");
	int64_t started = json_get_int(record_supervision(s->record), "started_boottime_ms", 0);

	if (started > 0)
		json_object_set_new(usage, "wall_ms", json_integer(clock_boottime_ms() - started));
	if (started == 0 || s->adopted)
		return;
	json_object_set_new(usage, "cpu_ms", json_integer(s->cpu_us / 1000));
	json_object_set_new(usage, "memory_peak_bytes", json_integer(s->maxrss_kib * 1024));
}

static void record_result(struct local_supervisor *s)
{
	struct classify_input in = CLASSIFY_INPUT_INIT;

	in.wait_status = s->wait_status;
	in.request = s->why;
	in.delivered = s->why_delivered;
	in.interrupt_sent = s->interrupt_sent;
	in.terminate_sent = s->terminate_sent;
	struct classify_result r = classify(&in);
	record_end_result(s->record, &r);
}

void local_finish_clean(struct local_supervisor *s)
{
	unlinkat(s->run.fd, "stdout.fifo", 0);
	unlinkat(s->run.fd, "stderr.fifo", 0);
	control_unlink(&s->home, s->run.handle);
	loop_stop(s->loop);
}

/* How it ended is known here alone until it is on record. */
static void write_end(void *data)
{
	struct local_supervisor *s = data;
	auto_error struct error err = ERROR_INIT;

	s->sweep_timer = NULL;
	if (record_end_write(&s->run, s->record) == 1) {
		s->sweep_timer =
			loop_at(s->loop, clock_boottime_ms() + RECORD_END_AGAIN_MS, write_end, s);
		return;
	}
	fault_hit("local:end");
	if (log_writer_end(s->output.log, clock_realtime_ns(), &err) < 0)
		log_warning("%s", err.message);
	s->phase = LOCAL_OVER;
	if (!error_is(&s->failure, ERROR_NONE)) {
		auto_json *envelope = error_to_json(&s->failure);
		local_begin_answer(s, envelope);
	}
	control_server_free(s->server);
	s->server = NULL;
	local_finish_clean(s);
}

void local_finish_now(struct local_supervisor *s)
{
	s->phase = LOCAL_ENDING;
	local_stop_cleanup(s);
	output_finish(&s->output);
	if (error_is(&s->failure, ERROR_NONE))
		record_result(s);
	else
		record_end_failure(s->record, s->failure_outcome, &s->failure);
	record_usage(s);
	record_end_log(s->record, log_writer_stats(s->output.log));
	record_set_time(s->record, "finished_at", clock_realtime_ns());
	fault_hit("local:final");
	rundir_release(&s->run);
	write_end(s);
}

/* Kills who is left until nobody is; those who are killed hand their children to us. */
static void sweep(void *data)
{
	struct local_supervisor *s = data;

	s->sweep_timer = NULL;
	if (collect(s)) {
		local_finish_now(s);
		return;
	}
	size_t left = local_process_kill_descendants();
	if (clock_boottime_ms() >= s->sweep_until) {
		record_warn(s->record, "processes_left",
			"%zu processes of the run could not be ended", left);
		local_finish_now(s);
		return;
	}
	s->sweep_timer = loop_at(s->loop, clock_boottime_ms() + SWEEP_EVERY_MS, sweep, s);
}

void local_finish_begin(struct local_supervisor *s)
{
	if (s->phase == LOCAL_ENDING || s->phase == LOCAL_OVER)
		return;
	s->phase = LOCAL_ENDING;
	local_stop_cleanup(s);
	if (s->wait_status >= 0 && error_is(&s->failure, ERROR_NONE)) {
		json_object_set_new(
			record_supervision(s->record), "wait_status", json_integer(s->wait_status));
		local_persist(s, false);
	}
	fault_hit("local:ended");
	s->sweep_until = clock_boottime_ms() + SWEEP_FOR_MS;
	sweep(s);
}

static void on_children(void *data, uint32_t events)
{
	struct local_supervisor *s = data;
	struct signalfd_siginfo info;

	(void)events;
	(void)!read(s->child_signals, &info, sizeof(info));
	if (s->phase == LOCAL_ENDING) {
		loop_remove(s->sweep_timer);
		sweep(s);
		return;
	}
	(void)collect(s);
	if (s->wait_status < 0)
		return;
	/* Its last word at the gate may still be unread. */
	local_begin_on_gate(s);
	local_finish_begin(s);
}

int local_finish_watch(struct local_supervisor *s, struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->child_signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->child_signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return error_set_errno(err, ERROR_SHIM_FAILED, errno, "watching processes");
	s->children = loop_watch(s->loop, s->child_signals, EPOLLIN, on_children, s);
	return 0;
}

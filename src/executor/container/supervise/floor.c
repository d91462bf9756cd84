/*
 * Theory of operation. What is wanted follows from the readings (below the floor, and nobody is
 * ending the run), what is comes from the engine's answers; settle() makes one of them into the
 * other, one engine call at a time. An engine that cannot pause (podman rootless on cgroup v1) is
 * replaced by SIGSTOP, the init included; processes that may not be signalled end the run.
 *
 * That a sandbox is frozen is on record before it is, so a new supervisor releases it first of all:
 * a frozen init could not connect to it.
 */
#include "executor/container/supervise/floor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/clock.h"
#include "sys/descendants.h"
#include "sys/fault.h"

enum { ENGINE_TIMEOUT_MS = 30000, QUICK_MS = 200, ROUNDS = 16 };

#define FROZEN "frozen"
#define ENDED "ended_disk_low"

static void settle(struct supervisor *s);

static bool wanted(const struct supervisor *s)
{
	return space_low(&s->floor.space) && supervisor_released(s) && !s->why;
}

static void put_on_record(struct supervisor *s, bool frozen)
{
	if (frozen) {
		json_object_set_new(record_supervision(s->record), FROZEN, json_true());
		json_object_set_new(s->record, "reason", json_string("disk_low"));
	} else {
		json_object_del(record_supervision(s->record), FROZEN);
		json_object_del(s->record, "reason");
	}
	supervisor_persist(s, false);
}

static bool signal_init(const struct supervisor *s, int signal)
{
	return s->init_pidfd >= 0 && pidfd_send_signal(s->init_pidfd, signal, NULL, 0) == 0;
}

static void continue_all(const struct supervisor *s)
{
	AUTO(descendants) below = DESCENDANTS_INIT;

	descendants_find(s->init_pid, &below);
	for (size_t i = 0; i < below.n; i++)
		(void)!descendant_signal(&below.v[i], SIGCONT);
	(void)signal_init(s, SIGCONT);
}

/* The number of processes that were not stopped before; -1: one of them may not be. */
static int stop_round(pid_t init, struct descendants *stopped)
{
	AUTO(descendants) below = DESCENDANTS_INIT;
	int n = 0;

	descendants_find(init, &below);
	for (size_t i = 0; i < below.n; i++) {
		if (descendants_have(stopped, below.v[i].pid))
			continue;
		if (descendant_signal(&below.v[i], SIGSTOP) < 0 && errno != ESRCH)
			return -1;
		descendants_add(stopped, below.v[i]);
		n++;
	}
	return n;
}

/* Processes that were made meanwhile are found by the next round. */
static bool stop_all(const struct supervisor *s)
{
	AUTO(descendants) stopped = DESCENDANTS_INIT;

	if (fault_hit("floor:stop") || !signal_init(s, SIGSTOP))
		return false;
	for (int i = 0; i < ROUNDS; i++) {
		int n = stop_round(s->init_pid, &stopped);
		if (n == 0)
			return true;
		if (n < 0)
			break;
	}
	continue_all(s);
	return false;
}

static void end_instead(struct supervisor *s)
{
	supervisor_note(s, "disk low: the run cannot be frozen, and is ended");
	put_on_record(s, false);
	json_object_set_new(record_supervision(s->record), ENDED, json_true());
	stop_request(s, stop_why_text(STOP_CANCELLED), 0);
}

static void on_paused(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;

	s->floor.call = NULL;
	if (answer->exit_code == 0)
		s->floor.state = FLOOR_PAUSED;
	else if (!wanted(s))
		put_on_record(s, false);
	else if (stop_all(s))
		s->floor.state = FLOOR_STOPPED;
	else
		end_instead(s);
	settle(s);
}

static void on_unpaused(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;

	s->floor.call = NULL;
	/* Of one that was stopped by signals it may say "not paused"; else it is asked again. */
	if (answer->exit_code == 0)
		s->floor.state = FLOOR_RUNS;
	if (s->floor.state == FLOOR_RUNS)
		put_on_record(s, false);
}

static void call(struct supervisor *s, const char *verb, engine_call_fn *fn)
{
	auto_error struct error err = ERROR_INIT;
	const char *args[] = {verb, supervisor_container(s), NULL};

	s->floor.call = supervisor_engine(s, args, ENGINE_TIMEOUT_MS, fn, &err);
}

static void release(struct supervisor *s)
{
	if (s->floor.state == FLOOR_STOPPED)
		floor_thaw(s);
	call(s, "unpause", on_unpaused);
}

static void settle(struct supervisor *s)
{
	struct floor_watch *f = &s->floor;
	bool want = wanted(s);

	if (f->call || want == (f->state != FLOOR_RUNS))
		return;
	if (want) {
		put_on_record(s, true);
		call(s, "pause", on_paused);
	} else {
		release(s);
	}
}

void floor_thaw(struct supervisor *s)
{
	if (s->floor.state == FLOOR_STOPPED)
		continue_all(s);
	s->floor.state = FLOOR_RUNS;
}

static void on_crossed(void *data, bool low, const char *text)
{
	struct supervisor *s = data;

	supervisor_note(s, "disk low: %s: the run %s", text, low ? "is frozen" : "may go on");
	record_warn(s->record, error_code_text(ERROR_DISK_LOW), "%s", text);
	supervisor_persist(s, false);
}

static void look_after(struct supervisor *s, int64_t ms);

/* An init that is waited for must be able to connect, and a workload to begin. */
static bool may_freeze(const struct supervisor *s)
{
	return supervisor_released(s) && !s->init_timer && (s->confirmed || s->mute);
}

static void on_timer(void *data)
{
	struct supervisor *s = data;

	s->floor.timer = NULL;
	if (may_freeze(s)) {
		space_look(&s->floor.space, on_crossed, s);
		settle(s);
	}
	look_after(s, space_low(&s->floor.space) ? s->floor.again_ms : SPACE_EVERY_MS);
}

static void look_after(struct supervisor *s, int64_t ms)
{
	s->floor.timer = loop_at(s->loop, clock_boottime_ms() + ms, on_timer, s);
}

/* What the supervisor before this one froze, by either means. */
static void release_adopted(struct supervisor *s)
{
	if (!json_get_bool(record_supervision(s->record), FROZEN, false))
		return;
	s->floor.state = FLOOR_STOPPED;
	release(s);
}

void floor_begin(struct supervisor *s)
{
	auto_fd int project = s->mount_fds[0] >= 0
				      ? fcntl(s->mount_fds[0], F_DUPFD_CLOEXEC, 0)
				      : open(s->plan.project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct space_place places[] = {
		{project, "the workspace", s->plan.project},
		{s->home.fd, "cloop's home", s->home.path},
	};

	s->floor.again_ms = fault_hit("space:quick") ? QUICK_MS : SPACE_AGAIN_MS;
	if (s->adopted)
		release_adopted(s);
	space_open(&s->floor.space, (uint64_t)s->plan.min_free_mb, places, ARRAY_SIZE(places));
	if (s->floor.space.n > 0)
		look_after(s, SPACE_EVERY_MS);
}

void floor_end(struct supervisor *s)
{
	struct floor_watch *f = &s->floor;

	loop_remove(TAKE_PTR(f->timer));
	engine_call_cancel(TAKE_PTR(f->call));
	space_done(&f->space);
	json_object_del(record_supervision(s->record), FROZEN);
}

void floor_conclude(struct supervisor *s, enum run_outcome outcome)
{
	auto_error struct error err = ERROR_INIT;

	if (outcome != OUTCOME_CANCELLED ||
		!json_get_bool(record_supervision(s->record), ENDED, false))
		return;
	error_set(&err, ERROR_DISK_LOW,
		"ended for want of disk space (disk_low): free space was below "
		"orchestrator.min_free_disk_mb, %lld MB, and the run could not be frozen",
		(long long)s->plan.min_free_mb);
	record_set_error(s->record, &err);
}

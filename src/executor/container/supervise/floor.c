/*
 * Theory of operation. What is wanted follows from the readings (below the floor, and nobody is
 * ending or signalling the run), what is comes from the engine's answers; settle() makes one of
 * them into the other, one engine call at a time. What failed is tried again each second; a sandbox
 * counts as paused until the engine has said that it is not. An engine that cannot pause (podman
 * rootless on cgroup v1) is replaced by SIGSTOP, the init included; processes that may not be
 * signalled end the run.
 *
 * Free space is read by the loop where the kernel answers by itself, else by a thread of its own: a
 * file server that is gone holds up nothing but the next reading.
 *
 * That a sandbox is frozen is on record before it is, so a new supervisor releases it first of all:
 * a frozen init could not connect to it. Which filesystems are low is on record, too: a crossing is
 * told once, and what was frozen below the floor stays so up to where it would be released.
 */
#include "executor/container/supervise/floor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "executor/container/inspect.h"
#include "executor/container/supervise/supervisor.h"
#include "executor/rundir/space-apart.h"
#include "sys/clock.h"
#include "sys/descendants.h"
#include "sys/fault.h"

enum {
	ENGINE_TIMEOUT_MS = 30000,
	QUICK_MS = 200,
	RETRY_MS = 1000,
	ROUNDS = 16,
	CROSSINGS_MAX = 100
};

#define FROZEN "frozen"
#define ENDED "ended_disk_low"
#define CROSSINGS "disk_low"
#define LOW "low_filesystems"

static void settle(struct supervisor *s);

static bool wanted(const struct supervisor *s)
{
	return space_low(&s->floor.space) && supervisor_released(s) && !s->why && !s->floor.thaw;
}

static bool frozen(const struct floor_watch *f)
{
	return f->paused || f->stopped;
}

static bool on_record(const struct supervisor *s)
{
	return json_get_bool(record_supervision(s->record), FROZEN, false);
}

static void put_on_record(struct supervisor *s, bool frozen)
{
	if (frozen) {
		json_object_set_new(record_supervision(s->record), FROZEN, json_true());
		json_object_set_new(
			s->record, "reason", json_string(error_code_text(ERROR_DISK_LOW)));
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

/*
 * The number of processes that were not stopped before; -1: one of them may not be. One that began
 * a session meanwhile looks like one that is gone: it counts, so that the next round looks again.
 */
static int stop_round(pid_t init, struct descendants *stopped)
{
	AUTO(descendants) below = DESCENDANTS_INIT;
	int n = 0;

	descendants_find(init, &below);
	for (size_t i = 0; i < below.n; i++) {
		if (descendants_have(stopped, below.v[i].pid))
			continue;
		int r = descendant_signal(&below.v[i], SIGSTOP);
		if (r < 0 && errno != ESRCH)
			return -1;
		if (r == 0)
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

static void on_retry(void *data)
{
	struct supervisor *s = data;

	s->floor.retry = NULL;
	settle(s);
}

static void retry_later(struct supervisor *s)
{
	if (!s->floor.retry)
		s->floor.retry = loop_at(s->loop, clock_boottime_ms() + RETRY_MS, on_retry, s);
}

static void call(struct supervisor *s, const char *verb, engine_call_fn *fn)
{
	auto_error struct error err = ERROR_INIT;
	const char *args[] = {verb, supervisor_container(s), NULL};

	s->floor.call = supervisor_engine(s, args, ENGINE_TIMEOUT_MS, fn, &err);
	if (!s->floor.call)
		retry_later(s);
}

static void on_paused(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	struct floor_watch *f = &s->floor;

	f->call = NULL;
	/* A client that was killed may have got through. */
	f->paused = answer->exit_code <= 0;
	if (answer->exit_code != 0) {
		if (!wanted(s) && !f->paused)
			put_on_record(s, false);
		else if (wanted(s) && stop_all(s))
			f->stopped = true;
		else if (wanted(s))
			end_instead(s);
	}
	settle(s);
}

static bool says_not_paused(const struct engine_answer *answer)
{
	return text_has(answer->stderr_text, "not paused") ||
	       inspect_says_unknown(answer->stderr_text);
}

static void on_unpaused(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	struct floor_watch *f = &s->floor;

	f->call = NULL;
	if (f->paused && answer->exit_code != 0 && !says_not_paused(answer)) {
		retry_later(s);
		return;
	}
	f->paused = f->thaw = false;
	if (on_record(s))
		put_on_record(s, false);
}

/* Until the engine has answered: then it is off the record. */
static void release(struct supervisor *s)
{
	s->floor.thaw = true;
	if (s->floor.stopped)
		continue_all(s);
	s->floor.stopped = false;
	call(s, "unpause", on_unpaused);
}

/* An init that is waited for must be able to connect, and a workload to begin. */
static bool may_freeze(const struct supervisor *s)
{
	return supervisor_released(s) && !s->init_timer && (s->confirmed || s->mute);
}

static void settle(struct supervisor *s)
{
	struct floor_watch *f = &s->floor;
	bool want = wanted(s);

	if (f->call)
		return;
	if (f->thaw || (!want && (frozen(f) || on_record(s)))) {
		release(s);
	} else if (want && !frozen(f) && may_freeze(s)) {
		put_on_record(s, true);
		call(s, "pause", on_paused);
	}
}

void floor_thaw(struct supervisor *s)
{
	s->floor.thaw = true;
	settle(s);
}

/* For the journal and the audit trail, which are told at the end; the warnings hold no text twice.
 */
static void put_crossing(struct supervisor *s, bool low, const char *text)
{
	json_t *list = json_object_get(record_supervision(s->record), CROSSINGS);

	if (!list) {
		list = json_array();
		json_object_set_new(record_supervision(s->record), CROSSINGS, list);
	}
	if (json_array_size(list) < CROSSINGS_MAX)
		json_array_append_new(
			list, json_pack("{s:I, s:b, s:o}", "at_ns", (json_int_t)clock_realtime_ns(),
				      "low", low, "message", json_from_string(text)));
}

static void on_crossed(void *data, bool low, const char *text)
{
	struct supervisor *s = data;

	supervisor_note(s, "disk low: %s: the run %s", text, low ? "is frozen" : "may go on");
	record_warn(s->record, error_code_text(ERROR_DISK_LOW), "%s", text);
	put_crossing(s, low, text);
	json_object_set_new(record_supervision(s->record), LOW, space_low_list(&s->floor.space));
	supervisor_persist(s, false);
}

static void look_after(struct supervisor *s, int64_t ms);

/* Who cannot freeze yet does so as soon as it can. */
static void look_again(struct supervisor *s)
{
	bool waits = space_low(&s->floor.space) && may_freeze(s);

	look_after(s, waits ? s->floor.again_ms : SPACE_EVERY_MS);
}

static void on_answer(void *data, uint32_t events)
{
	struct supervisor *s = data;
	struct floor_watch *f = &s->floor;

	(void)events;
	loop_remove(TAKE_PTR(f->answer));
	if (may_freeze(s)) {
		space_take(&f->space, space_apart_answer(f->apart), on_crossed, s);
		settle(s);
	}
	space_apart_end(TAKE_PTR(f->apart));
	look_again(s);
}

/* False: it is not to be had. Until it answers nothing else is read. */
static bool read_apart(struct supervisor *s)
{
	struct floor_watch *f = &s->floor;

	f->apart = space_apart_begin(&f->space);
	if (f->apart)
		f->answer = loop_watch(s->loop, space_apart_fd(f->apart), EPOLLIN, on_answer, s);
	if (!f->answer)
		space_apart_end(TAKE_PTR(f->apart));
	return f->apart != NULL;
}

static void on_timer(void *data)
{
	struct supervisor *s = data;
	bool look = may_freeze(s);

	s->floor.timer = NULL;
	if (look && s->floor.by_thread && read_apart(s))
		return;
	if (look && !s->floor.by_thread) {
		space_look(&s->floor.space, on_crossed, s);
		settle(s);
	}
	look_again(s);
}

static void look_after(struct supervisor *s, int64_t ms)
{
	s->floor.timer = loop_at(s->loop, clock_next_ms(ms), on_timer, s);
}

/*
 * What the supervisor before this one froze, by either means. One that does not look paused yet may
 * be about to: that supervisor's client may live on.
 */
static void release_adopted(struct supervisor *s, bool paused)
{
	if (!on_record(s))
		return;
	s->floor.paused = paused;
	s->floor.stopped = true;
	settle(s);
}

void floor_begin(struct supervisor *s, bool paused)
{
	auto_fd int project = disk_open_project(s);

	s->floor.again_ms = fault_hit("space:quick") ? QUICK_MS : SPACE_AGAIN_MS;
	if (s->adopted)
		release_adopted(s, paused);
	space_open_run(
		&s->floor.space, (uint64_t)s->plan.min_free_mb, project, s->plan.project, &s->home);
	if (s->adopted)
		space_restore(&s->floor.space, json_object_get(record_supervision(s->record), LOW));
	s->floor.by_thread = space_may_block(&s->floor.space) || fault_hit("space:apart");
	if (s->floor.space.n > 0)
		look_after(s, SPACE_EVERY_MS);
}

void floor_end(struct supervisor *s)
{
	struct floor_watch *f = &s->floor;

	loop_remove(TAKE_PTR(f->timer));
	loop_remove(TAKE_PTR(f->retry));
	loop_remove(TAKE_PTR(f->answer));
	space_apart_end(TAKE_PTR(f->apart));
	engine_call_cancel(TAKE_PTR(f->call));
	space_done(&f->space);
}

bool floor_frozen(const struct supervisor *s)
{
	return on_record(s);
}

void floor_forget(struct supervisor *s)
{
	json_object_del(record_supervision(s->record), FROZEN);
}

void floor_withdraw(struct supervisor *s)
{
	json_object_del(record_supervision(s->record), ENDED);
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

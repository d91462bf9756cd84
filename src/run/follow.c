#include "run/follow.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "executor/container/driver/shim.h"
#include "executor/rundir/control.h"
#include "executor/rundir/record.h"
#include "executor/rundir/stage-wipe.h"
#include "sys/cancel.h"
#include "sys/log.h"

enum { LOOK_EVERY_MS = 500, RUNS_MAX = 100000, ADOPTIONS_MAX = 10, AGAIN_MS = 50 };
/*
 * After this much output at once the next look is a little later: to be woken for every frame of a
 * flood costs more than reading it.
 */
enum { FLOOD_BYTES = 256 << 10, FLOOD_PAUSE_MS = 2 };

/* A start that died before its first record made nothing else (§9.1 step 3). */
static int remove_stillborn(const struct home *home, const struct rundir *run, struct error *err)
{
	if (!rundir_stillborn(run))
		return 0;
	if (rundir_remove(home, run->handle, err) < 0)
		return -1;
	return error_set(err, ERROR_HANDLE_NOT_FOUND, "the start of run %s died before it began",
		run->handle);
}

int follow_adopt(const struct home *home, const struct rundir *run, int *ret_fd, struct error *err)
{
	struct child child = CHILD_INIT;

	int held = rundir_supervised(run, err);
	if (held != 0)
		return held < 0 ? -1 : 0;
	auto_json *record = rundir_read(run, RECORD_FILE, err);
	if (!record) {
		error_clear(err);
		/* A new supervisor ends a run whose record is none any more. */
		if (rundir_is_blank(run) || !rundir_damaged(run, RECORD_FILE))
			return remove_stillborn(home, run, err);
	} else if (record_final(record) && !rundir_has_leftovers(run) &&
		   !control_exists(home, run->handle)) {
		return 0;
	}
	if (shim_adopt(home, run->handle, &child, err) < 0)
		return -1;
	if (ret_fd)
		*ret_fd = child.pidfd;
	else
		close(child.pidfd);
	return 1;
}

void follow_adopt_all(const struct home *home)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) handles = STRV_INIT(RUNS_MAX);

	stage_sweep(home);
	if (rundir_list(home, &handles, &err) < 0)
		return;
	strv_foreach (handle, &handles) {
		auto_error struct error one = ERROR_INIT;
		AUTO(rundir) run = RUNDIR_INIT;
		if (rundir_open(home, *handle, &run, &one) == 0 &&
			follow_adopt(home, &run, NULL, &one) < 0 &&
			!error_is(&one, ERROR_HANDLE_NOT_FOUND))
			log_warning("run %s: %s", *handle, one.message);
	}
}

/* The supervisor is gone, or may be: 0 go on, 1 the run is over, -1. */
static int look_after(struct follow *f, struct error *err)
{
	if (record_final_now(f->run))
		return 1;
	if (f->supervisor >= 0) {
		close(f->supervisor);
		f->supervisor = -1;
	}
	/* One that cannot even begin is not started over and over. */
	if (f->adoptions > 0 && cancel_pause(f->adoptions * AGAIN_MS))
		return cancel_refuse(err, "the wait for output");
	int r = follow_adopt(f->home, f->run, &f->supervisor, err);
	if (r == 1 && ++f->adoptions > ADOPTIONS_MAX)
		return error_set(err, ERROR_LOST,
			"the supervisors of run %s die one after the other", f->run->handle);
	return r < 0 ? -1 : 0;
}

/* Waits for more output, a signal, or the end of the supervisor. 1: the run is over. */
static int wait_for_more(struct follow *f, int log_fd, struct error *err)
{
	bool flood = f->drained >= FLOOD_BYTES;
	struct pollfd p[] = {
		{.fd = flood ? -1 : log_fd, .events = POLLIN},
		{.fd = f->supervisor, .events = POLLIN},
		{.fd = f->signals, .events = POLLIN},
		{.fd = cancel_fd(), .events = POLLIN},
	};

	f->drained = 0;
	int n = poll(p, ARRAY_SIZE(p),
		flood                ? FLOOD_PAUSE_MS
		: f->supervisor >= 0 ? -1
				     : LOOK_EVERY_MS);
	if (n < 0 && errno != EINTR)
		return error_set_errno(err, ERROR_IO, errno, "waiting for output");
	if (n > 0 && p[3].revents)
		return cancel_refuse(err, "the wait for output");
	if (n > 0 && p[2].revents)
		f->on_signal(f->data);
	if ((n == 0 && !flood) || (n > 0 && p[1].revents))
		return look_after(f, err);
	return 0;
}

/* The log has ended, and the record that says how is not there yet. 1, or -1. */
static int await_record(struct follow *f, struct error *err)
{
	int r = record_final_now(f->run) ? 1 : 0;

	while (f->until_end && r == 0)
		r = wait_for_more(f, -1, err);
	return r < 0 ? -1 : 1;
}

/* 0 a frame, 1 the log has ended, 2 nothing is there now, -1. */
static int read_one(struct follow *f, struct log_frame *ret, struct error *err)
{
	int missing = f->reader ? 0 : log_reader_open(f->run->fd, f->since_seq, &f->reader, err);

	if (missing != 0)
		return missing < 0 ? -1 : 2;
	switch (log_reader_next(f->reader, ret, err)) {
	case LOG_READ_FRAME:
		f->since_seq = ret->seq;
		f->drained += ret->data.len;
		return 0;
	case LOG_READ_NOTHING:
		return 2;
	case LOG_READ_END:
		return 1;
	case LOG_READ_ERROR:
	default:
		return -1;
	}
}

int follow_next(struct follow *f, struct log_frame *ret, struct error *err)
{
	while (!f->ended) {
		int r = read_one(f, ret, err);
		if (r == 2 && (f->over || !f->until_end)) {
			r = 1;
		} else if (r == 2) {
			r = wait_for_more(f, f->reader ? log_reader_fd(f->reader) : -1, err);
			/* Final, and nobody writes any more: one last look at the log. */
			f->over = r == 1;
			if (r < 0)
				return -1;
			continue;
		} else if (r == 1) {
			r = await_record(f, err);
		}
		if (r <= 0)
			return r;
		f->ended = true;
	}
	return 1;
}

void follow_done(struct follow *f)
{
	log_reader_free(f->reader);
	f->reader = NULL;
	if (f->supervisor >= 0)
		close(f->supervisor);
	f->supervisor = -1;
}

int follow_run(struct follow *f, struct error *err)
{
	struct log_frame frame;
	bool stopped = false;
	int r = 0;

	while (!stopped && (r = follow_next(f, &frame, err)) == 0)
		stopped = !f->on_frame(f->data, &frame);
	follow_done(f);
	return r < 0 ? -1 : stopped;
}

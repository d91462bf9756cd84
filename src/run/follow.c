#include "run/follow.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "executor/container/driver/shim.h"
#include "executor/rundir/control.h"
#include "executor/rundir/record.h"
#include "executor/rundir/stage-wipe.h"
#include "sys/clock.h"
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
		return remove_stillborn(home, run, err);
	}
	if (record_final(record) && !rundir_has_leftovers(run) &&
		!control_exists(home, run->handle))
		return 0;
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
static int look_after(struct follow *f, unsigned *adoptions, struct error *err)
{
	if (record_final_now(f->run))
		return 1;
	if (f->supervisor >= 0) {
		close(f->supervisor);
		f->supervisor = -1;
	}
	/* One that cannot even begin is not started over and over. */
	if (*adoptions > 0)
		clock_sleep_ms(*adoptions * AGAIN_MS);
	int r = follow_adopt(f->home, f->run, &f->supervisor, err);
	if (r == 1 && ++*adoptions > ADOPTIONS_MAX)
		return error_set(err, ERROR_LOST,
			"the supervisors of run %s die one after the other", f->run->handle);
	return r < 0 ? -1 : 0;
}

/* Waits for more output, a signal, or the end of the supervisor. 1: the run is over. */
static int wait_for_more(struct follow *f, int log_fd, unsigned *adoptions, struct error *err)
{
	bool flood = f->drained >= FLOOD_BYTES;
	struct pollfd p[] = {
		{.fd = flood ? -1 : log_fd, .events = POLLIN},
		{.fd = f->supervisor, .events = POLLIN},
		{.fd = f->signals, .events = POLLIN},
	};

	f->drained = 0;
	int n = poll(p, ARRAY_SIZE(p),
		flood                ? FLOOD_PAUSE_MS
		: f->supervisor >= 0 ? -1
				     : LOOK_EVERY_MS);
	if (n < 0 && errno != EINTR)
		return error_set_errno(err, ERROR_IO, errno, "waiting for output");
	if (n > 0 && p[2].revents)
		f->on_signal(f->data);
	if ((n == 0 && !flood) || (n > 0 && p[1].revents))
		return look_after(f, adoptions, err);
	return 0;
}

/* All frames that are there. 0 more may come, 1 on_frame stopped, 2 the end. */
static int drain(struct follow *f, struct log_reader *reader, struct error *err)
{
	struct log_frame frame;

	for (;;) {
		switch (log_reader_next(reader, &frame, err)) {
		case LOG_READ_FRAME:
			f->since_seq = frame.seq;
			f->drained += frame.data.len;
			f->reader = reader;
			if (!f->on_frame(f->data, &frame))
				return 1;
			break;
		case LOG_READ_NOTHING:
			return 0;
		case LOG_READ_END:
			return 2;
		case LOG_READ_ERROR:
		default:
			return -1;
		}
	}
}

/* The log has ended, and the record that says how is not there yet. */
static int await_record(struct follow *f, unsigned *adoptions, struct error *err)
{
	int r = record_final_now(f->run) ? 1 : 0;

	while (r == 0)
		r = wait_for_more(f, -1, adoptions, err);
	return r < 0 ? -1 : 0;
}

int follow_run(struct follow *f, struct error *err)
{
	AUTO_PTR(log_reader) reader = NULL;
	unsigned adoptions = 0;
	bool over = false;
	int result = 0;

	for (;;) {
		int missing = reader ? 0 : log_reader_open(f->run->fd, f->since_seq, &reader, err);
		int r = missing ? 0 : drain(f, reader, err);
		if (missing < 0 || r < 0)
			result = -1;
		if (result < 0 || r > 0 || over || !f->until_end) {
			result = result < 0 ? result : r == 1;
			if (r == 2 && f->until_end)
				result = await_record(f, &adoptions, err);
			break;
		}
		r = wait_for_more(f, reader ? log_reader_fd(reader) : -1, &adoptions, err);
		if (r < 0) {
			result = -1;
			break;
		}
		/* Final, and nobody writes any more: one last look at the log. */
		over = r == 1;
	}
	if (f->supervisor >= 0)
		close(f->supervisor);
	f->supervisor = -1;
	f->reader = NULL;
	return result;
}

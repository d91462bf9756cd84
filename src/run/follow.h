/*
 * Following a run to its end: output from its log, and a new supervisor for it when its own died
 * (container-driver.md §11.5, §16.2). Any process may follow any run of its home.
 */
#pragma once

#include "executor/rundir/rundir.h"
#include "executor/runlog/log-reader.h"

/* Gets every frame; false ends the following. */
typedef bool follow_fn(void *data, const struct log_frame *frame);

/* Frame by frame with follow_next(), or all of it with follow_run(). */
struct follow {
	const struct home *home;
	const struct rundir *run;
	uint64_t since_seq;
	bool until_end; /* false: only what is there */
	int supervisor; /* pidfd, readable when it is gone; -1 = not ours, looked after by its lock
			 */
	int signals;    /* readable: on_signal is called; -1 = none */
	follow_fn *on_frame; /* of follow_run() */
	void (*on_signal)(void *data);
	void *data;
	struct log_reader *reader; /* of the frame that was given last */
	/* Its own. */
	size_t drained; /* bytes since it last waited */
	unsigned adoptions;
	bool over, ended;
};
/* Closes what it has opened, and f->supervisor. */
void follow_done(struct follow *f);

/*
 * 0: *ret (its data included) is the next frame, valid until the next call. 1: the log has ended
 * (or, without until_end, was read; the final record is on disk with it); stays so. -1: `cancelled`
 * (sys/cancel.h), after which it may go on, or a failure.
 */
must_check int follow_next(struct follow *f, struct log_frame *ret, struct error *err);

/*
 * 0 when the log has ended (or, without until_end, was read); the final record is then on disk. 1:
 * on_frame asked to stop. Takes f->supervisor.
 */
must_check int follow_run(struct follow *f, struct error *err);
/*
 * Starts a supervisor if the run has none and is not final, or final with something left to remove.
 * 1: one was started, pidfd in *ret_fd (may be NULL); 0: nothing to do.
 */
must_check int follow_adopt(
	const struct home *home, const struct rundir *run, int *ret_fd, struct error *err);
/*
 * The same for every run of the home, and stage_sweep(), which a command that looks at one run
 * calls by itself, once; failures are logged. Waits for none of them.
 */
void follow_adopt_all(const struct home *home);

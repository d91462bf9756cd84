/*
 * The workload's output: two FIFOs of the run directory -> redaction -> chunks -> the run's log
 * (container-driver.md §11.1, §11.2, §12). The workload's ends are blocking O_RDWR descriptions of
 * their own, so a dead supervisor makes it wait at a full pipe, and a new one goes on reading.
 *
 * A reader that stopped never blocks a workload, but one that is only behind is waited for: a
 * second at once, and a tenth of the time in the long run. The first one has half a second to come
 * before anything is deleted.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "executor/rundir/rundir.h"
#include "executor/runlog/chunker.h"
#include "executor/runlog/log-writer.h"
#include "executor/runlog/redact.h"
#include "sys/loop.h"

enum { OUTPUT_STREAMS = 2 };

struct output;
struct output_stream {
	struct output *owner;
	enum log_stream stream;
	int fd; /* ours, O_RDWR | O_NONBLOCK */
	struct loop_source *source;
	struct loop_source *hold; /* flushes held UTF-8 bytes */
	struct redact_stream *redact;
	struct chunker chunker;
};

struct output {
	struct loop *loop;
	int run_fd;
	struct log_writer *log;
	struct redactor *redactor;
	struct output_stream streams[OUTPUT_STREAMS];
	struct loop_source *sync;
	struct loop_source *wait;         /* reading goes on later */
	int64_t patience_ms, patience_at; /* what is left of it, and when that was so */
	int64_t reader_due;               /* the first one is waited for until then; 0 = not yet */
	struct str scratch;
	char *buffer; /* one read */
};

/* Opens the log (new or continued). */
must_check int output_init(struct output *o, struct loop *l, const struct rundir *run,
	int64_t log_max_mb, struct error *err);
void output_done(struct output *o);
/* Makes the FIFOs (0600, owned by the sandbox where `chown`) or opens those that are there. */
must_check int output_open(struct output *o, bool chown, uid_t uid, gid_t gid, struct error *err);
/*
 * gVisor gives what it gets as stdout and stderr to a user of its own, rootless one that our user
 * has no rights over (runsc 2022): a new supervisor opens them all the same. RUN is 0700.
 */
must_check int output_share(struct output *o, struct error *err);
/* Blocking descriptors for the workload's fd 1 and 2; the caller's. */
must_check int output_open_ends(struct output *o, int fds[2], struct error *err);
/*
 * Takes out what is in the pipe of stream i (0 stdout, 1 stderr) now, unmasked, as far as it fits
 * in ret; the rest is dropped. For what an engine says there before the workload.
 */
void output_take(struct output *o, size_t i, struct str *ret);
/* One more value to hide. 1: too short to be masked. */
must_check int output_redact(struct output *o, struct text value, struct error *err);
/* Starts reading. */
void output_start(struct output *o);
/*
 * Reads what is in the pipes now and writes out everything that is held; stops reading. What a
 * process outside the run, which was handed an end, writes from then on is nobody's.
 */
void output_finish(struct output *o);
void output_note(struct output *o, const char *words);

/*
 * One attach session as the supervisor sees it (container-driver.md §18): a client's connection on
 * one side, a terminal's master or three pipes on the other. Internal header of this folder.
 *
 * Theory of operation. Nothing here waits. Every event ends in attach_session_settle(), which moves
 * what can be moved and then watches exactly for what could move more: a client that does not read
 * stops the reading inside, a program that does not read stops the reading of the client's frames.
 * A client that takes nothing for ATTACH_STUCK_MS is dropped. A session is over when the init says
 * so, or can say no more; what is in its pipes then is still passed on.
 */
#pragma once

#include "executor/container/decisions/attach-request.h"
#include "executor/container/supervise/attach-exec.h"
#include "executor/rundir/attach-connection.h"
#include "executor/runlog/redact.h"
#include "sys/loop.h"

struct supervisor;

enum {
	ATTACH_IDLE_MS = 30 * 60 * 1000, /* without input */
	ATTACH_STUCK_MS = 60 * 1000,     /* a client that takes nothing */
	ATTACH_OUTPUTS = 2,
};

enum attach_stage {
	ATTACH_OPENING, /* the init has not answered */
	ATTACH_OPEN,
	ATTACH_CLOSING, /* the init was asked to close it */
	ATTACH_OVER,    /* nothing of it runs any more, but for what `left` counts */
};

/* Why a session ended, as the frame `exit` says it. */
enum attach_reason {
	ATTACH_ENDED, /* its first process did */
	ATTACH_CLOSED,
	ATTACH_IDLE,
	ATTACH_RUN_ENDED,
	ATTACH_REASON_COUNT
};

struct attach_session;
struct attach_output {
	struct attach_session *owner;
	enum attach_type type;
	int fd;
	struct loop_source *source;
	struct redact_stream *redact;
	bool silent; /* a terminal that nobody has open: looked at again at the end */
	size_t late; /* bytes read since the session is over */
};

struct attach_session {
	struct supervisor *owner;
	uint32_t id;
	enum attach_stage stage;
	bool tty, write, hung_up; /* hung_up: there is no client any more */
	uint16_t rows, cols;
	char *word; /* of its command, for an error */

	struct attach_connection client;
	struct loop_source *client_source;
	struct loop_source *stuck; /* runs while the client takes nothing */
	int64_t stuck_ms;
	size_t room; /* bytes that may wait for the client */

	int input; /* the terminal, or the pipe to stdin; -1: none (any more) */
	struct loop_source *input_source;
	struct str typed; /* on its way to `input` */
	size_t typed_done;
	bool eof; /* closes a pipe behind `typed` */
	struct loop_source *idle;
	int64_t last_input, idle_ms;

	struct attach_output outputs[ATTACH_OUTPUTS]; /* a terminal has only the first */
	struct loop_source *again;                    /* the init did not take `session_close` */
	struct attach_exec *exec;                     /* where there is no init to ask; else NULL */

	enum attach_reason reason;
	bool lost;   /* the init that knew it is gone */
	bool exited; /* there is an exit code */
	int exit_code;
	int64_t left; /* processes; -1 = unknown */
	bool told;    /* the last frame was added */
};

/* A session in ATTACH_OPENING without ends inside; takes fd. */
must_check struct attach_session *attach_session_new(
	struct supervisor *s, const struct attach_request *r, int fd, struct text early);
void attach_session_free(struct attach_session *x);
/* Moves what can be moved. x may be gone afterwards. */
void attach_session_settle(struct attach_session *x);
/* Takes the descriptors of the ends inside; -1 = none. An output begins to be read. */
void attach_session_set_input(struct attach_session *x, int fd);
void attach_session_set_output(struct attach_session *x, size_t i, int fd);
/* Size of the terminal, kept until it is there. */
void attach_session_resize(struct attach_session *x, uint16_t rows, uint16_t cols);
/* An error for the client. */
void attach_session_tell(struct attach_session *x, const struct error *err);
/* No client any more: the session is closed. */
void attach_session_hang_up(struct attach_session *x);
/* What `exit` will say; attach_session_settle() must follow. */
void attach_session_over(struct attach_session *x, int exit_code, int64_t left);
/* As above, but there is no exit code to tell. */
void attach_session_broken(struct attach_session *x, const struct error *err);

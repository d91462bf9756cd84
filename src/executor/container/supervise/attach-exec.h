/*
 * An attach session where no init can be asked: the engine's `exec` (container-driver.md §18.2,
 * standalone). Internal header of this folder.
 *
 * The client's ends are pipes or a terminal of this host. When the client ends, or the session is
 * closed, a shell inside ends what has the session's mark, as far as it can; nobody knows what is
 * left then.
 */
#pragma once

#include "base/error.h"
#include "executor/container/decisions/attach-request.h"
#include "executor/container/supervise/engine-call.h"
#include "sys/spawn.h"

struct attach_session;
struct supervisor;

enum { ATTACH_MARK_SIZE = 33, ATTACH_MARKS_MAX = 64 };

struct attach_exec {
	struct child client;
	struct loop_source *ended;
	struct engine_call *sweep;
	char mark[ATTACH_MARK_SIZE];
	int exit_code; /* -1: the client has not ended */
};

/*
 * Starts the client of session x: ends are its stdin, stdout and stderr, or NULL with the path of
 * a terminal whose size is set. The session has x->exec afterwards.
 */
must_check int attach_exec_start(struct attach_session *x, const struct attach_request *r,
	const int *ends, const char *tty, struct error *err);
/* Everything inside with the mark is ended, then the client; attach_session_over() follows. */
void attach_exec_close(struct attach_session *x);
/* NULL is fine. */
void attach_exec_free(struct attach_exec *e);
/*
 * A new supervisor: what sessions of the dead one left inside is ended. They are known by their
 * marks, which lie in the record until a sweep was through.
 */
void attach_exec_adopt(struct supervisor *s);
/* That is given up: the run has ended. */
void attach_exec_done(struct supervisor *s);

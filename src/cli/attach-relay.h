/*
 * An attach session on our side (container-driver.md §18.3): our stdin to its frames, its frames to
 * our stdout and stderr, until it is over. Never waits for one side only, so that a session whose
 * input and output are both full goes on; a signal ends it in good order.
 */
#pragma once

#include "base/error.h"
#include "cli/pass-on.h"
#include "cli/terminal.h"
#include "executor/rundir/attach-connection.h"

struct attach_relay {
	bool tty, write;
	int signals; /* signalfd; one signal closes the session, a second one forsakes it */
	/* Called when the session runs; -1 closes it, the error is its failure. */
	int (*on_ready)(void *data, int64_t session, struct error *err);
	void *data;

	/* What came out. */
	bool exited; /* the session's end was told: */
	int exit_code;
	int64_t left;         /* processes of it that could not be ended; -1 = unknown */
	char reason[16];      /* word of the frame `exit` */
	struct error failure; /* of the supervisor, or of on_ready; ERROR_NONE: none */
	int signal;           /* that made us leave; 0 = none */

	struct attach_connection connection;
	struct pass_on out;
	struct terminal terminal;
	int resized;  /* signalfd of SIGWINCH */
	bool input;   /* stdin has not ended */
	bool leaving; /* the close was asked for: */
	bool over;
	int64_t until; /* boottime: no answer to it is waited for any longer */
};

/* fd: the connection, taken. `tty` and `write` as they were asked for. */
void attach_relay_init(struct attach_relay *r, int fd, bool tty, bool write);
void attach_relay_done(struct attach_relay *r);
/* Returns when the session is over, or nobody speaks for it any more. */
void attach_relay_run(struct attach_relay *r);

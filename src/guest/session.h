/*
 * Attach sessions, seen from inside (container-driver.md §18): starting a leader on a terminal or
 * on pipes, and closing one so that nothing of it is left. Which sessions are open at all is
 * machine.h's knowledge; this part also keeps those that are being closed for a shim that is gone.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "executor/container/init/init-socket.h"
#include "guest/mark.h"

enum {
	SESSIONS_KEPT_MAX = 16, /* four open ones, and those whose closing outlives their shim */
	SESSIONS_POLL_MAX = SESSIONS_KEPT_MAX,
};

enum session_state {
	SESSION_FREE = 0,
	SESSION_OPENING, /* the leader's exec is not known yet */
	SESSION_OPEN,
	SESSION_CLOSING,
};

struct session {
	enum session_state state;
	uint32_t id;
	char mark[MARK_TEXT];
	pid_t leader; /* 0: has ended, with: */
	uint32_t wait_status;
	int result; /* of the launch; -1 when it is known */
	int master; /* of the terminal, until it is handed over */
	bool close_wanted;
	bool silent;  /* its shim is gone: nobody is told */
	bool hung_up; /* SIGHUP reached somebody */
	uint64_t closing_since_ms, look_at_ms;
	struct mark_kin kin;
	unsigned looks_at_empty; /* looks put off for processes without an environment to read */
};

struct sessions {
	struct session list[SESSIONS_KEPT_MAX];
};

void sessions_init(struct sessions *s);
/*
 * Starts the session that an `attach` asks for; its descriptors are copied, not taken. 0, and the
 * outcome comes as a report; or -1 and *f: nothing was begun.
 */
int sessions_open(struct sessions *s, const struct init_packet *attach, struct init_failure *f);
/*
 * SIGHUP to everything of the session, after 2 s SIGKILL, until nothing is left, 5 s at most; the
 * end is reported, if `report`. An unknown session is nothing.
 */
void sessions_close(struct sessions *s, uint32_t id, bool report);
/* True: pid was the leader of a session, which is closed now. */
bool sessions_reaped(struct sessions *s, pid_t pid, uint32_t wait_status);

/* Adds what sessions wait for to p (room for SESSIONS_POLL_MAX); how many. */
size_t sessions_poll(const struct sessions *s, struct pollfd *p);
/* When sessions_report() has to be called again at the latest; 0: not for any time. */
uint64_t sessions_due_ms(const struct sessions *s);

enum session_report_type {
	SESSION_STARTED,
	SESSION_FAILED,
	SESSION_ENDED,
};

struct session_report {
	enum session_report_type type;
	uint32_t session;
	struct init_failure failure; /* failed */
	int master;                  /* started: the caller's now; -1: none */
	uint32_t wait_status, left;  /* ended */
};

/* Goes on with what is due; true as long as there is something to tell. To be called after a poll.
 */
bool sessions_report(struct sessions *s, struct session_report *ret);

/*
 * The init's decisions as a function: an event gives the actions to do, in order
 * (container-driver.md §23.4). No I/O, no clock: the time comes with the event, in milliseconds of
 * CLOCK_BOOTTIME.
 */
#pragma once

#include "executor/container/init/init-message.h"

enum {
	MACHINE_SESSIONS_MAX = 4,
	MACHINE_ACTIONS_MAX = MACHINE_SESSIONS_MAX + 2,
};

enum machine_state {
	MACHINE_NEW,
	MACHINE_WAITING,
	MACHINE_STARTING,
	MACHINE_RUNNING,
	MACHINE_ENDED,
	MACHINE_GONE, /* after an exit: nothing happens any more */
};

enum event_type {
	EVENT_START,
	EVENT_TIMER,
	EVENT_CONNECTED,
	EVENT_CONNECT_FAILED, /* number = errno */
	EVENT_LOST,
	EVENT_GO,
	EVENT_EXEC_OK,
	EVENT_EXEC_FAILED,    /* failure */
	EVENT_SIGNAL,         /* number; a message */
	EVENT_ATTACH,         /* session */
	EVENT_SESSION_CLOSE,  /* session */
	EVENT_SESSION_FAILED, /* session, failure: it could not be opened */
	EVENT_SESSION_ENDED,  /* session, number = wait status */
	EVENT_CAUGHT,         /* number; a signal to the init itself */
	EVENT_CHILD_ENDED,    /* number = wait status of the workload's first process */
	EVENT_ORPHAN,         /* another process was reaped */
};

struct event {
	enum event_type type;
	uint32_t number;
	uint32_t session;
	struct init_failure failure;
};

enum action_type {
	ACTION_CONNECT,
	ACTION_DISCONNECT,
	ACTION_SEND,  /* message; session_ended lacks `left`, exit lacks the usage: the doer adds it
		       */
	ACTION_TIMER, /* number = ms from now; replaces the one that runs */
	ACTION_UNDUMPABLE,
	ACTION_FORK,
	ACTION_KILL_GROUP,    /* number = signal, to the process group of the first process */
	ACTION_KILL_ALL,      /* SIGKILL to everything but the init */
	ACTION_OPEN_SESSION,  /* session; answers by session_started, or EVENT_SESSION_FAILED */
	ACTION_CLOSE_SESSION, /* session */
	ACTION_EXIT,          /* number = exit status; the last action */
};

struct action {
	enum action_type type;
	uint32_t number;
	uint32_t session;
	struct init_message message;
};

struct actions {
	size_t n;
	struct action list[MACHINE_ACTIONS_MAX];
};

struct machine {
	enum machine_state state;
	bool connected;
	uint64_t started_ms; /* of `start` */
	uint64_t ended_ms;   /* of `child_ended` */
	uint32_t back_off_ms;
	uint32_t wait_status;
	uint32_t sessions[MACHINE_SESSIONS_MAX]; /* those open, in the order of opening */
	size_t n_sessions;
};

void machine_init(struct machine *m);
/* Judges one event; *ret is what has to be done now, possibly nothing. */
void machine_step(struct machine *m, uint64_t now_ms, const struct event *e, struct actions *ret);

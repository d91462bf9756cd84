/*
 * The supervisor of one host process. Internal header of this folder.
 *
 * Theory of operation. The supervisor starts `cloop-shim --local-exec` (local-exec.h), a process of
 * its own session that waits for one byte. Its pid and start time go on record first, then the byte
 * is sent: whatever dies when, either nothing of the workload has run, or the record says which
 * process it is.
 *
 * The supervisor is the reaper of every descendant (PR_SET_CHILD_SUBREAPER): whoever loses its
 * parent becomes its child, whatever session it is in. So "everything of the run" is its own
 * descendants: they are killed until it has no child left. The run ends when the first process has:
 * the rest is killed then, and only then the pipes are drained.
 *
 * A dead supervisor takes the first process with it (PR_SET_PDEATHSIG). The next one cannot be a
 * reaper of the others: it ends who is left of the session and who holds the pipes
 * (local-process.h), and the run is lost, unless the exit status was on record already.
 */
#pragma once

#include "executor/container/decisions/classify.h"
#include "executor/container/supervise/output.h"
#include "executor/localprocess/local-plan.h"
#include "executor/localprocess/local-process.h"
#include "executor/rundir/control-server.h"
#include "executor/rundir/record.h"
#include "sys/loop.h"

enum local_phase {
	LOCAL_STARTING, /* nothing of the workload has run */
	LOCAL_RELEASED, /* it was told to go */
	LOCAL_RUNNING,
	LOCAL_ENDING, /* what is left is being killed */
	LOCAL_OVER,   /* final record and `end` frame are written */
};

struct local_supervisor {
	struct home home;
	struct rundir run;
	struct local_plan plan;
	json_t *record;
	struct loop *loop;
	enum local_phase phase;
	bool adopted;
	int lock_fd;
	struct output output;
	struct control_server *server;

	/* local-begin.c */
	int caller_fd; /* the dispatcher, until it was answered */
	struct loop_source *caller;
	int launch_fd;
	int gate_fd; /* to local_exec(); closes when the workload runs */
	struct loop_source *gate;
	struct local_process first; /* pid 0 = there is none */
	int64_t started_at;         /* boottime; 0 = it never ran */
	struct error failure;       /* why there is no result; code ERROR_NONE = there is one */
	const char *failure_outcome;

	/* local-stop.c */
	struct loop_source *deadline_timer;
	struct loop_source *grace_timer;
	enum stop_why why;
	bool why_delivered;
	bool interrupt_sent, terminate_sent;

	/* local-finish.c */
	int child_signals; /* signalfd of SIGCHLD */
	struct loop_source *children;
	struct loop_source *sweep_timer;
	int64_t sweep_until; /* boottime */
	int64_t wait_status; /* of the first process; -1 = none */
	int64_t cpu_us, maxrss_kib;
};

/* local-supervisor.c */
void local_persist(struct local_supervisor *s, bool durable);
/* Masks the values of those entries whose names the plan lists. */
must_check int local_add_secrets(
	struct local_supervisor *s, const struct strv *environment, struct error *err);

/* local-begin.c */
void local_begin(struct local_supervisor *s);
/* Gives the start up (err is moved); only before LOCAL_RUNNING. */
void local_begin_fail(struct local_supervisor *s, struct error *err);
/* The gate said something or closed, or the first process is gone and it may have. */
void local_begin_on_gate(struct local_supervisor *s);
void local_begin_answer(struct local_supervisor *s, const json_t *answer);

/* local-stop.c */
void local_stop_arm_deadline(struct local_supervisor *s);
void local_stop_request(struct local_supervisor *s, enum stop_why why, int64_t grace_ms);
/* interrupt or terminate of a user: only delivered. signal_failed; an ended run is none. */
must_check int local_stop_signal(struct local_supervisor *s, int signal, struct error *err);
void local_stop_cleanup(struct local_supervisor *s);

/* local-finish.c */
must_check int local_finish_watch(struct local_supervisor *s, struct error *err);
/* Kills what is left; then the result, or the failure, becomes the final record. */
void local_finish_begin(struct local_supervisor *s);
/* For an adopted run, of which nobody is our child. */
void local_finish_now(struct local_supervisor *s);
/* Removes what only a live run needs, and ends the loop. */
void local_finish_clean(struct local_supervisor *s);

/* local-adopt.c */
void local_adopt(struct local_supervisor *s);

/*
 * The supervisor of one run: what cloop-shim does. Internal header of this folder.
 *
 * Theory of operation. One process, one epoll loop, one run. It either starts the run (steps 6-17
 * of container-driver.md §9.1: supervise_start) or takes over one whose supervisor died
 * (supervise_adopt, §16.2); from then on both are the same:
 *
 *   start.c    the steps up to `go`; undoing them        gate.c    the init's socket and messages
 *   make-source.c  mount sources that are missing
 *   output.c   FIFOs -> redaction -> log                 stop.c    signals, ladders, the deadline
 *   finish.c   from the end of the init to the final     server.c  the control socket
 *              record, `end`                             adopt.c   taking over
 *   remove.c   the container, then the run's files       orphan.c  a dead supervisor's client
 *   lease.c    what the run holds of its lease           stage.c   the files of it
 *   mask.c     what nobody may see of it                 revoke.c  taking it back
 *   refresh.c  new contents of its files                 extend.c  how long it goes on
 *   devices.c, interfaces.c  the host's hardware         egress.c  its session and proxy
 *   told.c     what its proxy told, into the audit trail
 *   standalone-start.c, standalone.c  a sandbox with a kernel of its own, in the place of gate.c
 *   network.c  the run's own network         guard.c    that its table of nft stays
 *   attach.c   attach sessions                           disk.c    the disk limit
 *   floor.c    the free-space floor
 *
 * Whatever can be decided without the system is decided elsewhere (plan.h, decisions/): this folder
 * carries it out. All state that must survive this process is in the run directory before the
 * effect that it describes: `released` before `go`, an intent to stop before its first signal.
 */
#pragma once

#include "executor/container/decisions/classify.h"
#include "executor/container/init/init-socket.h"
#include "executor/container/launch.h"
#include "executor/container/plan.h"
#include "executor/container/supervise/attach.h"
#include "executor/container/supervise/disk.h"
#include "executor/container/supervise/egress.h"
#include "executor/container/supervise/engine-call.h"
#include "executor/container/supervise/extend.h"
#include "executor/container/supervise/floor.h"
#include "executor/container/supervise/guard.h"
#include "executor/container/supervise/interfaces.h"
#include "executor/container/supervise/lease.h"
#include "executor/container/supervise/network.h"
#include "executor/container/supervise/output.h"
#include "executor/container/supervise/standalone.h"
#include "executor/container/supervise/told.h"
#include "executor/rundir/control-server.h"
#include "executor/rundir/record.h"
#include "sys/cgroup.h"
#include "sys/loop.h"

enum phase {
	PHASE_STARTING, /* nothing of the workload has run */
	PHASE_ADOPTING, /* the engine has not said yet what became of the container */
	PHASE_RELEASED, /* `go` was sent, no answer yet: the workload may have run */
	PHASE_RUNNING,
	PHASE_ENDING, /* the init is gone or the start was given up: being wound up */
	PHASE_OVER,   /* final record and `end` frame written: only removal is left */
};

struct supervisor {
	struct home home;
	struct rundir run;
	struct plan plan;
	json_t *record;
	struct loop *loop;
	enum phase phase;
	bool adopted;
	int64_t masks_until; /* adopt.c: how long they are waited for; 0 = they are not missed */
	bool unread; /* what the workload prints cannot be masked, and is left in the pipes */
	int lock_fd;

	/* start.c */
	int caller_fd; /* the dispatcher, until it was answered; -1 afterwards */
	struct loop_source *caller;
	struct launch launch;
	int mount_fds[PLAN_MOUNTS_MAX];
	int guest_fd;
	int slot_fd; /* start slot, while the engine's client runs */
	int64_t slot_wait_ms;
	struct engine_call *start_call;
	struct loop_source *start_timer;
	struct loop_source *poll_timer;
	bool start_killed; /* the engine's client was killed by us */
	struct engine_call *start_inspect;
	bool start_called;    /* the engine may know the container */
	bool confirmed;       /* the workload was seen to run: `started`, or an init past it */
	struct error failure; /* why the start ended; code ERROR_NONE while it has not */

	/* gate.c */
	int ctl_fd;    /* RUN/ctl */
	int listen_fd; /* socket in it, while one is waited for */
	struct loop_source *listening;
	int init_fd; /* connection to the init */
	struct loop_source *init_source;
	pid_t init_pid;
	int init_pidfd;
	struct loop_source *init_ended;
	struct loop_source *init_timer; /* 10 s without an init: mute */
	bool mute;
	char *search_path;    /* the init's PATH, as verified; NULL = not known */
	pid_t expected_pid;   /* adoption: State.Pid of the engine */
	int64_t ask_wait_ms;  /* until the engine that does not answer is asked again */
	int64_t client_until; /* boottime until which a dead supervisor's client may go on */

	struct standalone standalone;

	struct output output;
	unsigned unmasked; /* values that are too short to be masked */
	struct lease lease;
	struct interfaces interfaces;
	struct extension extension;
	struct egress egress;
	struct told told;
	struct network network;
	struct guard guard;

	struct disk_watch disk;
	struct floor_watch floor;

	/* limits and usage */
	struct cgroup cgroup;
	bool cgroup_ours; /* the group is the container's own */
	int oom_fd;
	struct loop_source *oom_source;
	int64_t oom_kills;
	int64_t cpu_ms, memory_peak; /* -1 = unknown */
	int64_t wait_status;         /* -1 = none came */

	/* stop.c */
	struct loop_source *deadline_timer;
	struct loop_source *grace_timer;
	struct loop_source *retry_timer;
	struct loop_source *thaw_timer;
	struct engine_call *kill_call;
	bool end_waits; /* for what becomes of it */
	int kill_attempts;
	int pending_signal; /* sent, not known yet whether it arrived; 0 = none */
	bool pending_asked; /* it is a request's; else a user's own signal */
	int queued_signal;  /* of a user, while the run is being taken over; 0 = none */
	const char *why;    /* request: timeout, cancelled …; NULL = none */
	bool why_delivered;
	bool interrupt_sent, terminate_sent; /* delivered for a user */

	/* finish.c, remove.c */
	struct engine_call *inspect_call;
	struct engine_call *remove_call;
	int64_t inspect_until;
	int remove_attempts;
	bool not_ours;         /* what has the container's name or id is somebody else's */
	int64_t lookup_until;  /* boottime; 0 = not looked up yet */
	int64_t monitor_until; /* the same of a monitor that the engine forgot */
	int engine_exit_code;  /* -1 = unknown */
	bool engine_knows;

	/* server.c */
	struct control_server *server;

	/* attach.c */
	struct attach_session *sessions[ATTACH_SESSIONS_MAX];
	uint32_t last_session; /* number of the newest */
	void (*lingering)(void *);
	struct loop_source *linger_timer, *lost_timer;
	struct engine_call *left_sweep; /* of sessions of a supervisor that died: attach-exec.c */
	struct strv left_marks;
};

/* supervisor.c */
void supervisor_persist(struct supervisor *s, bool durable);
/* An engine call of this run; NULL + err. args: engine_args() list without the engine. */
must_check struct engine_call *supervisor_engine(struct supervisor *s, const char *const *args,
	int64_t timeout_ms, engine_call_fn *fn, struct error *err);
/* The same with another pointer for the callback. */
must_check struct engine_call *supervisor_engine_for(struct supervisor *s, const char *const *args,
	int64_t timeout_ms, engine_call_fn *fn, void *data, struct error *err);
/* The same without a limit of time, and with these descriptors as its stdout and stderr. */
must_check struct engine_call *supervisor_engine_into(struct supervisor *s, const char *const *args,
	const int stdio[2], engine_call_fn *fn, struct error *err);
/* The same, of a list. */
must_check struct engine_call *supervisor_engine_line(struct supervisor *s,
	const struct strv *words, int64_t timeout_ms, engine_call_fn *fn, struct error *err);
/* 64 hexadecimal digits of RUN/cid, or "" while there is none. */
const char *supervisor_container_id(struct supervisor *s);
/* The container's id, else its name: for engine calls. */
const char *supervisor_container(struct supervisor *s);
/* `inspect` of this run's container. */
must_check struct engine_call *supervisor_inspect(
	struct supervisor *s, engine_call_fn *fn, struct error *err);
/*
 * The engine does not answer: the record's state becomes `unknown` (what it was stays on record),
 * and fn is called after 1, 2, 4 … 30 s. supervisor_known() takes that back. Whoever takes
 * something back is not kept waiting meanwhile: `unreachable`.
 */
void supervisor_ask_later(struct supervisor *s, loop_timer_fn *fn);
void supervisor_known(struct supervisor *s);
/* The state as it was before the engine stopped answering. */
const char *supervisor_state(struct supervisor *s);
/* The workload may be running: PHASE_RELEASED or PHASE_RUNNING. */
bool supervisor_released(const struct supervisor *s);
void supervisor_note(struct supervisor *s, const char *fmt, ...) printf_like(2, 3);

/* start.c: begins at step 7. A failure ends in start_fail(). */
void start_begin(struct supervisor *s);
/* Gives the start up (err is moved) and winds up what was made; only before PHASE_RUNNING. */
void start_fail(struct supervisor *s, struct error *err);
/* `started` was seen: on record, with the time of `go`. */
void start_confirm(struct supervisor *s);
/* What a program that could not be started means (§10.2), in words; `word` is its name. */
void start_explain_exec(const struct supervisor *s, const char *word, const struct init_failure *f,
	struct error *err);
/* Tells a caller that still waits that the workload was let go. */
void start_answer(struct supervisor *s);
/* gate.c tells start.c: the peer was judged, and what it said. */
void start_on_hello(struct supervisor *s);
void start_on_started(struct supervisor *s);
void start_on_exec_failed(struct supervisor *s, const struct init_failure *f);
/* Opens the init's groups: limits to read back, OOM kills to watch, usage at the end. */
void start_watch_cgroup(struct supervisor *s);
/* Between two steps: where a test breaks in, and where a cancel is looked for. */
must_check int start_step(struct supervisor *s, const char *point, struct error *err);
/* Others may start now. */
void start_free_slot(struct supervisor *s);
/* No timer, and no question about a sandbox that has not come. */
void start_stop_waiting(struct supervisor *s);
/* Gives the start up for what the engine said of `call`. */
void start_fail_by_words(
	struct supervisor *s, const char *call, struct text stderr_text, struct text out_text);
/* Warning engine_call_failed: the run goes on. */
void start_warn(struct supervisor *s, struct text stderr_text);
/* The limits of §9.5, from s->cgroup, on record: limits_not_applied. */
must_check int start_check_limits(struct supervisor *s, struct error *err);
/*
 * Steps 14 and 15: on record as released, then `go`, which lets the workload run. From then on it
 * is watched: deadline, lease, disk.
 */
typedef int start_go_fn(struct supervisor *s, struct error *err);
must_check int start_release(struct supervisor *s, start_go_fn *go, struct error *err);
/* Stops everything that belongs to the start and is still under way. */
void start_cleanup(struct supervisor *s);

/* gate.c */
must_check int gate_make_folder(struct supervisor *s, struct error *err);
must_check int gate_listen(struct supervisor *s, struct error *err);
void gate_unlisten(struct supervisor *s);
void gate_disconnect(struct supervisor *s);
/* Holds the init by a pidfd and waits for its end; -1: there is no such process. */
int gate_hold_init(struct supervisor *s, pid_t pid);
void gate_release_init(struct supervisor *s);
must_check int gate_send_go(struct supervisor *s, struct error *err);
/* 0 sent; -1: mute or not connected. */
int gate_send_signal(struct supervisor *s, int signal);
/* attach or session_close, with the descriptors that go with it. 0 sent; -1 with errno. */
int gate_send_session(struct supervisor *s, const struct init_message *m, const int *fds);
/* Nobody speaks for the sandbox any more: warning init_mute; end by pidfd and inspect. */
void gate_set_mute(struct supervisor *s, const char *reason);

/* stop.c */
void stop_arm_deadline(struct supervisor *s);
/* A request: why = timeout, cancelled …; grace -1 = the plan's, 0 = SIGKILL at once. */
void stop_request(struct supervisor *s, const char *why, int64_t grace_ms);
/* interrupt or terminate of a user: only delivered. */
void stop_signal(struct supervisor *s, int signal);
void stop_on_signalled(struct supervisor *s, uint32_t signal, uint32_t error);
/* After an adoption or a standalone start: a request on record that is not finished, and what came
 * meanwhile. */
void stop_resume(struct supervisor *s);
/*
 * True: the engine is delivering a signal, and whether it did decides how the end is called.
 * finish_begin() is called again when that is known, at the latest after two seconds.
 */
bool stop_holds_up_end(struct supervisor *s);
void stop_cleanup(struct supervisor *s);

/* finish.c */
void finish_read_usage(struct supervisor *s);
/* The init's pidfd is readable, or an adopted container is not running any more. */
void finish_begin(struct supervisor *s);
/* Final record of a run that never started or is lost, then removal. */
void finish_failed(struct supervisor *s, const char *outcome, const struct error *err);
/* The record is final already: the log's `end` if it is missing, then PHASE_OVER. */
void finish_over(struct supervisor *s);

/* remove.c: both end the loop when all is done. */
void remove_begin(struct supervisor *s);
/* Only the run's own network and files: there is no container of ours. */
void remove_rest(struct supervisor *s);

/* server.c */
must_check int server_open(struct supervisor *s, struct error *err);
/* Takes no new client; answers everybody who waits, but who waits for the container's removal. */
void server_shut(struct supervisor *s);
void server_close(struct supervisor *s);

/* adopt.c */
void adopt_begin(struct supervisor *s);

/*
 * A run whose sandbox has a kernel of its own, Kata's or gVisor's (container-driver.md §9.2): no
 * socket of the host is reached from inside, and no process of it is seen. What gate.c gets from
 * the init comes from the engine here. Internal header of this folder.
 *
 * Theory of operation. Somebody of the engine writes into the run's FIFOs: podman's monitor and the
 * sandbox itself, which got them from `podman init`, or docker's attached client. This *writer* is
 * held by a pidfd, and its end is the end of the output. The engine's process of the sandbox is
 * held as well: it tells a run that ended from a writer that only died. Of podman that is the
 * run's end (`lost`: nobody is left to know the code), of docker a new client takes over, behind a
 * gap in the log. How the run ended is asked of the engine (finish.c), signals go through it
 * (stop.c, since there is no init to send them to).
 */
#pragma once

#include "base/error.h"
#include "executor/container/supervise/engine-call.h"
#include "sys/loop.h"

struct inspection;
struct supervisor;

struct standalone {
	int sandbox_fd; /* pidfd; -1 = none */
	struct loop_source *sandbox_ended;
	int writer_fd; /* of a writer that is no child of ours; -1 = none */
	struct loop_source *writer_ended;
	struct engine_call *client; /* docker: a writer of our own */
	int64_t client_since;       /* boottime; 0 = none yet */
	bool gap;                   /* on record since the last client that lived for a while */
	bool unknown;          /* docker: the sandbox's process is not recognised, by a fault */
	int64_t unknown_until; /* docker: boottime; the process of a sandbox is not recognised */
	struct loop_source *timer; /* the writer is late, or a new client comes soon */
	bool writer_gone;          /* before it was known that the workload had started */
	int64_t ended_at;          /* boottime; 0 = not yet */
	bool lost;                 /* podman's monitor died first */
	char *words;               /* what the engine's `start` said when it failed */
};
#define STANDALONE_INIT ((struct standalone){.sandbox_fd = -1, .writer_fd = -1})

/* standalone-start.c */
/* The answer to `create`: the start goes on from there, or is given up. */
void standalone_start_created(void *data, const struct engine_answer *answer);
/* Released, and not known yet whether the workload runs. */
bool standalone_start_pending(const struct supervisor *s);

/* standalone.c */
bool standalone_is_podman(const struct supervisor *s);
/* An engine call whose stdout and stderr are the run's pipes; NULL + err. */
must_check struct engine_call *standalone_engine_into_pipes(
	struct supervisor *s, const char *const *args, engine_call_fn *fn, struct error *err);
/* podman after `init`: its monitor and its sandbox, by their files in RUN. engine_failed. */
must_check int standalone_hold_monitor(struct supervisor *s, struct error *err);
/* docker: the engine's process of the sandbox, if there still is one. */
void standalone_hold_sandbox(struct supervisor *s, pid_t pid);
/* docker: a client whose output goes into the FIFOs. args as for supervisor_engine(). */
must_check int standalone_attach(struct supervisor *s, const char *const *args, struct error *err);
/* From now on the end of the writer is the end of the run; it may have come already. */
void standalone_watch(struct supervisor *s);
/* A new supervisor: false when the sandbox does not live any more. */
must_check bool standalone_adopt(struct supervisor *s, const struct inspection *seen);
/* Nothing is watched any more. */
void standalone_release(struct supervisor *s);

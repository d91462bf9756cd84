/*
 * Child processes. The only place that starts one (posix_spawn; nothing else in the tree calls
 * fork, exec, system or popen). A child inherits nothing that is not named here: its environment is
 * the given list, its descriptors are those of `fds`, its signal mask is empty and dispositions are
 * default. A program that cannot be executed is reported as an error of the call, never as a child
 * that exits with 127.
 *
 * Dry run: with spawn_set_hook() a test (or the fault suite) sees every request first and may
 * answer it instead of the system.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

enum { SPAWN_FDS_MAX = 10 };

/* A descriptor of ours that the child gets under number `to`. */
struct spawn_fd {
	int from;
	int to;
};

struct spawn {
	const char *path;  /* absolute; never searched */
	char *const *argv; /* argv[0] included, NULL-terminated */
	char *const *env;  /* NULL-terminated; NULL = empty environment */
	const char *cwd;   /* NULL = "/" */
	bool new_session;  /* setsid; the pid is then also the process group */
	bool detached;     /* nobody will wait for it (spawn-keeper.h) */
	bool orphans;      /* its keeper, if it has one, gets its orphans, until child_wait() */
	struct spawn_fd fds[SPAWN_FDS_MAX]; /* 0-2 that are not named are /dev/null */
	const char *tty;                    /* or this; with new_session its controlling terminal */
	size_t n_fds;
};

struct child {
	pid_t pid;
	int pidfd;  /* readable when the child has ended; owned */
	int keeper; /* the socket of its keeper (spawn-keeper.h); -1 = it is our own child; owned */
};
#define CHILD_INIT ((struct child){.pid = -1, .pidfd = -1, .keeper = -1})

/*
 * Starts the program. Errors: io (could not be executed or no resources), the message names path
 * and reason. On success the caller owes child_wait() or child_kill() + child_wait().
 */
must_check int spawn_start(const struct spawn *s, struct child *ret, struct error *err);

/* Waits without limit; the raw wait status. Releases pidfd. */
must_check int child_wait(struct child *c, int *ret_status, struct error *err);
/* Collects an ended child: 0 and status, or 1 = still running. */
must_check int child_try_wait(struct child *c, int *ret_status, struct error *err);
/* SIGKILL to the process group of a new session, else to the process; not an error if it is gone.
 */
void child_kill(struct child *c);
/* Kills and reaps what is still there. For cleanup attributes. */
void child_done(struct child *c);

/* A whole call: start, feed nothing, capture, wait, with a deadline. */
struct capture {
	size_t stdout_max; /* kept; the rest is read and dropped */
	size_t stderr_max;
	int64_t timeout_ms; /* 0 = none; on expiry the process group gets SIGKILL */
	int cancel_fd;      /* readable = give up like a timeout; -1 = that of cancel.h */
};
struct captured {
	struct str out;
	struct str err;
	int status; /* raw wait status */
	bool timed_out;
	bool cancelled;
};
void captured_done(struct captured *c);
/*
 * s->fds must not name 1 and 2. The child is always a session of its own. A non-zero exit is a
 * result, not an error. The call ends with the child: of what a grandchild still writes to an
 * inherited pipe, only what is there by then is read.
 */
must_check int spawn_capture(
	const struct spawn *s, const struct capture *how, struct captured *ret, struct error *err);

/*
 * The dry-run seam: return true when the answer (status, out, err, timed_out, cancelled) was filled
 * and nothing is to be started. out and err come empty and are cut to the caller's maximum after.
 * For spawn_start() the "child" has ended already with that status, and out and err are written to
 * the descriptors the request names for 1 and 2 (so keep them below a pipe's 64 KiB). To make the
 * n-th start fail instead, arm the point `spawn` (fault.h). NULL removes the hook.
 */
typedef bool spawn_hook(void *data, const struct spawn *s, struct captured *answer);
void spawn_set_hook(spawn_hook *hook, void *data);

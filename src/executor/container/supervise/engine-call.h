/*
 * A call of the engine's client that does not block the supervisor (container-driver.md §4.4): own
 * session, stdin /dev/null, cwd /, stdout kept up to 1 MiB and stderr up to 64 KiB, SIGKILL to the
 * group when the time is up. The answer comes by a callback.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"
#include "base/strv.h"
#include "sys/loop.h"

struct engine_answer {
	int exit_code; /* -1: killed, or it ended by a signal */
	bool timed_out;
	struct text out; /* only valid during the callback */
	struct text stderr_text;
};
typedef void engine_call_fn(void *data, const struct engine_answer *answer);

struct engine_call;
struct engine_call_spec {
	const char *path;
	char *const *argv; /* argv[0] included */
	char *const *env;
	int fd3;            /* becomes descriptor 3 of the client; -1 = none */
	const int *stdio;   /* two: its stdout and stderr, of which nothing is kept; or NULL */
	int64_t timeout_ms; /* 0 = none */
	size_t out_max;     /* kept of stdout; 0 = 1 MiB */
};
/*
 * Starts it. After the callback the call is gone; the callback may start another. NULL + err (io)
 * when the program cannot be started.
 */
must_check struct engine_call *engine_call_start(struct loop *l,
	const struct engine_call_spec *spec, engine_call_fn *fn, void *data, struct error *err);
/*
 * Ends a call whose work is not wanted any more, with its answer as usual: `signal` (0 = none) to
 * its group now, SIGKILL after grace_ms. Measured: podman 4.3.1 that is killed while it makes a
 * container leaves conmon and a mount behind; on SIGTERM it first finishes what it is at.
 */
void engine_call_end(struct engine_call *c, int signal, int64_t grace_ms);
/* Kills it (SIGKILL to its group), reaps it; no callback. NULL is fine. */
void engine_call_cancel(struct engine_call *c);

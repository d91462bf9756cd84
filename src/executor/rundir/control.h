/*
 * The control socket of a run: <sockets>/<handle>.sock, SOCK_STREAM, 0600. Requests and answers are
 * u32 little-endian length (<= 65,536) + JSON (container-driver.md §18.4). This file has the wire
 * format and the client; the server is the supervisor's.
 *
 * RUN/control is a link to it: a run that cron began, without XDG_RUNTIME_DIR, has its socket in
 * another folder than a login's `cloop stop` would look in.
 */
#pragma once

#include "base/json.h"
#include "base/str.h"
#include "executor/rundir/home.h"

enum { CONTROL_MESSAGE_MAX = 65536, CONTROL_HEADER = 4 };

/* Listens; the name is replaced if a dead supervisor left it. -1 + err. */
must_check int control_listen(const struct home *h, const char *handle, struct error *err);
/* The name is there: of a supervisor that listens, or of one that died. */
bool control_exists(const struct home *h, const char *handle);
/* The folder of our sockets is still there, and the name in it. */
bool control_is_named(const struct home *h, const char *handle);
void control_unlink(const struct home *h, const char *handle);

/* Appends one framed message to out (max must allow it). */
void control_encode(struct str *out, const json_t *message);
/*
 * Takes one message off the front of `in`: 1 and *ret (owned), 0 = more bytes are needed, -1 = not
 * of the format (the connection is to be closed).
 */
must_check int control_decode(struct str *in, json_t **ret, struct error *err);

/*
 * One request, one answer, within timeout_ms (0 = none). An error envelope in the answer becomes
 * the error of the call. attach_closed when nobody listens; `cancelled` as sys/cancel.h says.
 */
must_check int control_call(const struct home *h, const char *handle, const json_t *request,
	int64_t timeout_ms, json_t **ret, struct error *err);
/*
 * The same for an operation that keeps the connection (attach): *ret_fd is the caller's. Nothing of
 * what follows the answer is read.
 */
must_check int control_keep(const struct home *h, const char *handle, const json_t *request,
	int64_t timeout_ms, int *ret_fd, struct error *err);
/*
 * A request with bytes behind it, which `size` of the request counts (refresh). One answer, within
 * a minute.
 */
must_check int control_call_bytes(const struct home *h, const char *handle, const json_t *request,
	struct text bytes, struct error *err);

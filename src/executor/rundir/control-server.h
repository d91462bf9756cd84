/*
 * The server of a control socket (container-driver.md §18.4), for any supervisor: it brings a table
 * of operations. At most 16 clients, of our own user or root; nobody is waited for: a client that
 * does not read its answer is dropped.
 */
#pragma once

#include "executor/rundir/control.h"
#include "sys/loop.h"

/* When a client gets its {"ok":true}: whoever still waits when the server closes gets it then. */
enum control_answered {
	CONTROL_AT_ONCE,
	CONTROL_AT_END,         /* of the run */
	CONTROL_WHEN_DELIVERED, /* by control_server_delivered() */
	CONTROL_KEPT,           /* at once; then the connection is the operation's: `keep` */
	CONTROL_LATER,          /* run() answered 1: by control_server_settle(); 0: at once */
};

struct control_op {
	const char *op;
	enum control_answered answered;
	/*
	 * 0: *ret, if filled, is the answer (taken), else {"ok":true}. -1: the error is. It may
	 * close the server.
	 */
	int (*run)(void *data, const json_t *request, json_t **ret, struct error *err);
	/*
	 * CONTROL_KEPT only, once the answer to the request is sent: takes the connection (it does
	 * not block); `early` is what came behind the request already. It counts as no client here
	 * any more.
	 */
	void (*keep)(void *data, const json_t *request, int fd, struct text early);
	/*
	 * Instead of run: `size` bytes follow the request, at most bytes_max; they are only
	 * borrowed, and wiped afterwards. CONTROL_AT_ONCE.
	 */
	int (*run_bytes)(void *data, const json_t *request, struct text bytes, json_t **ret,
		struct error *err);
	size_t bytes_max;
};

struct control_server;
/*
 * ops ends with an entry without a name; it, h, handle and data must outlive the server. Every 10 s
 * it looks whether its name is still there (a login's folder goes with the last session), and
 * listens anew if not: then h has another folder.
 */
must_check struct control_server *control_server_open(struct loop *l, struct home *h,
	const char *handle, const struct control_op *ops, void *data, struct error *err);
/* A signal arrived, or has nobody to arrive at any more: who waited for that is answered. */
void control_server_delivered(struct control_server *s);
/* It could not be delivered: everybody who waits gets the error. */
void control_server_failed(struct control_server *s, const struct error *err);
/* Who waits for CONTROL_LATER gets what run() left in *ret, and the members of `more`. */
void control_server_settle(struct control_server *s, json_t *more);
/*
 * Takes no new client and answers everybody who waits, but for CONTROL_LATER: these stay until they
 * are settled. NULL is fine, also below.
 */
void control_server_shut(struct control_server *s);
/* The same, and who is not settled yet is dropped without an answer. */
void control_server_free(struct control_server *s);

/*
 * The server of a control socket (container-driver.md §18.4), for any supervisor: it brings a table
 * of operations. At most 16 clients, of our own user or root; nobody is waited for: a client that
 * does not read its answer is dropped.
 */
#pragma once

#include "executor/rundir/control.h"
#include "sys/loop.h"

struct control_op {
	const char *op;
	/* The client gets {"ok":true} when the server closes, i.e. at the end of the run. */
	bool answered_at_end;
	/*
	 * 0: *ret, if filled, is the answer (taken), else {"ok":true}. -1: the error is. It may
	 * close the server.
	 */
	int (*run)(void *data, const json_t *request, json_t **ret, struct error *err);
};

struct control_server;
/* ops ends with an entry without a name; it and data must outlive the server. */
must_check struct control_server *control_server_open(struct loop *l, const struct home *h,
	const char *handle, const struct control_op *ops, void *data, struct error *err);
/* Answers everybody who waits for the end and takes no new client. NULL is fine. */
void control_server_free(struct control_server *s);

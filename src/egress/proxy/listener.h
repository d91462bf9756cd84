/*
 * Where clients come from: one socket per run, bound by the owner (network.md §12.2). Accepting
 * stops at 90 % of the descriptors that the process may have, and goes on below; and where so many
 * clients are connected that have not shown who they are, since each may fill a buffer.
 */
#pragma once

#include "egress/proxy/state.h"

enum { LISTENER_UNKNOWN_MAX = 1024 };

struct listener {
	LIST_ENTRY(listener) link;
	struct proxy *proxy;
	char *id;
	int fd;
	struct loop_source *source;
	LIST_HEAD(listener_conns, conn) conns;
};

/* Takes the descriptor, on success. */
must_check int listener_add(struct proxy *p, const char *id, int fd, struct error *err);
/* With its connections. One that is unknown is removed. */
void listener_remove(struct proxy *p, const char *id);
void listener_remove_all(struct proxy *p);

/* How many descriptors this process may use for connections. */
size_t listener_limit(void);
/* Accepts, or stops it, by what is in use now; sockets of connections and pipes count. */
void listener_count(struct proxy *p);
/* A connection's socket was made, or closed. */
void listener_opened_one(struct proxy *p);
void listener_closed_one(struct proxy *p);
/* A client without a session came, or is one no more. */
void listener_unknown(struct proxy *p, bool more);

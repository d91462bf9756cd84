/*
 * The egress proxy (network.md §12.2, §13): one epoll loop that serves the sessions it is told of
 * and nothing else. It opens no file, asks for no name by itself and keeps nothing on disk.
 */
#pragma once

#include "base/address.h"
#include "base/error.h"

struct proxy;

/* How names are looked up and connections made: for tests, which have no Internet. */
struct proxy_hooks {
	void *data;
	/* How many addresses, at most `max`; 0: none. NULL: helper processes ask the system. */
	size_t (*resolve)(void *data, const char *host, struct address *ret, size_t max);
	/* A non-blocking socket on its way there, or -1 with errno. NULL: connect(2). */
	int (*dial)(void *data, const struct address *a, uint16_t port);
	/* The wall clock. NULL: the system's. */
	int64_t (*realtime_ns)(void *data);
};

/*
 * `control`: SOCK_SEQPACKET, a JSON object a message (control.h); its end ends the proxy. `events`:
 * a line each (event-log.h). Both are the proxy's. hooks may be NULL.
 */
must_check struct proxy *proxy_new(
	int control, int events, const struct proxy_hooks *hooks, struct error *err);
/* Until the owner says stop, or is gone. */
must_check int proxy_run(struct proxy *p, struct error *err);
void proxy_free(struct proxy *p);

/*
 * Requests to the kernel about links, addresses and routes (rtnetlink(7)), each with its answer.
 * They end at once, so a caller in a loop may wait for them, and they need no program of the host.
 */
#pragma once

#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>

#include "base/error.h"

struct rtnetlink {
	struct mnl_socket *socket; /* owned */
	unsigned sequence;
};
#define RTNETLINK_INIT ((struct rtnetlink){.socket = NULL})
void rtnetlink_done(struct rtnetlink *r);

/* A request being written. Attributes beyond it are the caller's bug: all are of fixed size. */
enum { RTNETLINK_REQUEST_SIZE = 1024 };
union rtnetlink_request {
	struct nlmsghdr head;
	char bytes[RTNETLINK_REQUEST_SIZE];
};

/* In the network namespace of the caller. -1: io. */
must_check int rtnetlink_open(struct rtnetlink *ret, struct error *err);
/* Begins one with a body of that size, zeroed; returns the body, which lies in *ret. */
void *rtnetlink_begin(
	union rtnetlink_request *ret, unsigned short kind, unsigned short flags, size_t body);
/*
 * Asks, and shows each message of the answer to fn (NULL: only whether it was done), some twice if
 * what is dumped changes meanwhile. -1: io, with what was being done; errno is the kernel's.
 */
must_check int rtnetlink_ask(struct rtnetlink *r, union rtnetlink_request *request, mnl_cb_t fn,
	void *data, const char *doing, struct error *err);

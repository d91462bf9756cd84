/*
 * Look-ups of names, in processes of their own since getaddrinfo() blocks (network.md §12.2): at
 * most RESOLVER_HELPERS, started when they are needed first. One that takes longer than
 * RESOLVER_TIMEOUT_MS is killed, and replaced when it is needed again. Further look-ups wait their
 * turn.
 */
#pragma once

#include "base/address.h"
#include "net/host-pattern.h"
#include "sys/loop.h"

enum {
	RESOLVER_HELPERS = 4,
	RESOLVER_TIMEOUT_MS = 5000,
	RESOLVER_ADDRESSES_MAX = 64, /* of an answer; a longer one counts as none */
};

struct resolver;
must_check struct resolver *resolver_new(struct loop *loop);
void resolver_free(struct resolver *r);

struct lookup;
/* The addresses in answer order, mapped ones as IPv4; n = 0: none, or not in time. */
typedef void resolver_fn(void *data, const struct address *addresses, size_t n);
/* `fn` is called once, later. `host` is folded. */
must_check struct lookup *resolver_ask(
	struct resolver *r, const char *host, resolver_fn *fn, void *data);
/* fn is not called any more. NULL is fine. */
void resolver_forget(struct lookup *l);

/* The life of a helper: questions from fd, answers to it, until its other end is closed. */
int resolver_helper(int fd);
/* argv[1] of one. */
#define RESOLVER_HELPER_ARGUMENT "--resolve"
enum { RESOLVER_HELPER_FD = 3 };

/* Host and port of a request to the proxy (network.md §13.3). Pure. */
#pragma once

#include <stdint.h>

#include "net/host-pattern.h"

enum { AUTHORITY_MAX_BYTES = 261, AUTHORITY_HOST_SIZE = HOST_PATTERN_SIZE + 2 };

enum authority_form {
	AUTHORITY_CONNECT, /* the port is mandatory */
	AUTHORITY_URL,     /* 80 by default */
};

struct authority {
	char host[HOST_PATTERN_SIZE]; /* folded: a name, or an address in its one spelling */
	uint16_t port;
};

/* False: malformed, *ret is not written. */
bool authority_parse(enum authority_form form, struct text t, struct authority *ret);
/* The host as it stands before a port: IPv6 in brackets. */
void authority_host(const struct authority *a, char out[AUTHORITY_HOST_SIZE]);
/* The host is an address; *ret is written then. */
bool authority_address(const struct authority *a, struct address *ret);

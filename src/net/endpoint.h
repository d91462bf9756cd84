/*
 * Address and port of what a filter opens by itself: brokers, proxies and resolvers (network.md
 * §3.2, §3.3). Pure.
 */
#pragma once

#include <stdint.h>

#include "base/address.h"
#include "base/error.h"
#include "base/text.h"

enum { ENDPOINT_TEXT_SIZE = INET6_ADDRSTRLEN + 8 };

struct endpoint {
	struct address address; /* never a mapped one */
	uint16_t port;
};

enum endpoint_role {
	ENDPOINT_BROKER,   /* ADDRESS:PORT or [IPV6]:PORT */
	ENDPOINT_RESOLVER, /* the same, or a bare address: port 53 */
};

/*
 * Blanks and tabs around it are trimmed. -1: egress_broker_invalid or egress_resolver_invalid,
 * also where the address is none that a sandbox may be sent to; *ret is not written.
 */
must_check int endpoint_parse(
	enum endpoint_role role, struct text t, struct endpoint *ret, struct error *err);
/* ADDRESS:PORT, IPv6 in brackets. */
void endpoint_text(const struct endpoint *e, char out[ENDPOINT_TEXT_SIZE]);
/* By address as ranges are sorted, then by port. */
int endpoint_compare(const struct endpoint *a, const struct endpoint *b);
/* Sorts and drops repeats; answers how many are left. */
size_t endpoint_normalize(struct endpoint *list, size_t n);

/* 1-65535 in decimal digits, no sign, no leading zero. */
bool endpoint_port(struct text t, uint16_t *ret);
/*
 * Splits ADDRESS:PORT or [IPV6]:PORT, and nothing else; the address is unmapped. False: it is
 * neither.
 */
bool endpoint_split(struct text t, struct endpoint *ret);

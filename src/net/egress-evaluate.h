/* What a compiled filter answers to one packet (network.md §6). Pure. */
#pragma once

#include "net/egress-policy.h"

struct egress_probe {
	struct address address; /* never a mapped one */
	enum egress_protocol protocol;
	uint16_t port; /* 0: of EGRESS_OTHER */
};

/*
 * `ADDR:PORT[/tcp|/udp]`, IPv6 in brackets, tcp by default; `ADDR/icmp`. False: it is none of them.
 */
bool egress_evaluate_read(struct text t, struct egress_probe *ret);
enum { EGRESS_PROBE_SIZE = INET6_ADDRSTRLEN + 16 };
/* "10.8.0.5:443/tcp", "[fd00::1]:53/udp", "10.8.0.5/icmp": it reads back. */
void egress_evaluate_text(const struct egress_probe *p, char out[EGRESS_PROBE_SIZE]);

enum egress_evaluate_flag {
	EGRESS_WIRE = 1,    /* it leaves the sandbox: its own loopback does not count */
	EGRESS_TO_HOST = 2, /* to an address of the machine itself: not "the public Internet" */
};

/* The rule that decides; NULL: none, which is the default, a refusal. */
const struct egress_rule *egress_evaluate(
	const struct egress_policy *p, const struct egress_probe *probe, unsigned flags);
/* The reason of a rule; NULL: "default deny". */
const char *egress_evaluate_reason(const struct egress_rule *r);

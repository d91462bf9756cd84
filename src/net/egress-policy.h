/*
 * A compiled egress filter (network.md §4): rules of which the first that matches decides, then
 * everything else is refused. What is installed (nft, NetworkPolicy) and what is answered
 * (egress_policy_evaluate) are readings of this one list. Pure.
 */
#pragma once

#include "net/cidr.h"
#include "net/egress-filter.h"

enum { EGRESS_REASON_SIZE = 120 };

enum egress_mode { EGRESS_ISOLATED, EGRESS_BROKERED, EGRESS_FILTERED, EGRESS_MODE_COUNT };
const char *egress_mode_text(enum egress_mode m);
int egress_mode_from_text(struct text t);

/* EGRESS_OTHER occurs in probes only, EGRESS_ANY in rules only. */
enum egress_protocol { EGRESS_ANY, EGRESS_TCP, EGRESS_UDP, EGRESS_OTHER, EGRESS_PROTOCOL_COUNT };
const char *egress_protocol_text(enum egress_protocol p); /* "any" "tcp" "udp" "icmp" */
int egress_protocol_from_text(struct text t);

/* The rows of §4.4, in the order of the rules. */
enum egress_stage {
	EGRESS_LOOPBACK, /* inside the sandbox: never on the wire */
	EGRESS_DENIED,
	EGRESS_ENDPOINT,
	EGRESS_TRANSLATION,
	EGRESS_METADATA,
	EGRESS_GRANTED,
	EGRESS_BLOCKED,
	EGRESS_PUBLIC, /* never an address of the machine itself */
};

struct egress_rule {
	enum egress_stage stage;
	struct cidr to;
	bool allow;
	enum egress_protocol protocol;
	uint16_t port; /* of an endpoint; else 0 */
	char reason[EGRESS_REASON_SIZE];
};

/* In the order they are given in (§4.5). */
enum egress_warning_code {
	EGRESS_HOST_PATTERNS_NOT_ENFORCED,
	EGRESS_PUBLIC_INTERNET,
	EGRESS_METADATA_CARVED,
	EGRESS_TRANSLATION_DROPPED,
	EGRESS_WARN_ISOLATED,
	EGRESS_NO_RESOLVER,
	EGRESS_LOOPBACK_NO_EFFECT,
	EGRESS_SHADOWED,
	EGRESS_WARNING_CODE_COUNT
};
const char *egress_warning_code_text(enum egress_warning_code c);
int egress_warning_code_from_text(struct text t);

struct egress_warning {
	enum egress_warning_code code;
	char *sentence; /* owned */
};

struct egress_policy {
	enum egress_mode mode;
	struct egress_rule *rules; /* owned */
	size_t n_rules;
	uint16_t ports[EGRESS_FILTER_PORTS_MAX]; /* of granted ranges and the public Internet */
	size_t n_ports;                          /* 0: every port */
	struct address dns[EGRESS_FILTER_RESOLVERS_MAX]; /* resolvers on port 53 */
	size_t n_dns;
	struct egress_warning *warnings; /* owned */
	size_t n_warnings;
};
void egress_policy_done(struct egress_policy *p);

/*
 * The four operations of §4.1. -1: the first failure of §4.2, with the key at fault as the detail
 * `key`; *ret is not written then. *ret is the caller's (egress_policy_done).
 */
/* Whatever `enabled` says. */
must_check int egress_policy_compile(
	const struct egress_filter *f, struct egress_policy *ret, struct error *err);
/* Only if enabled: egress_filter_disabled. */
must_check int egress_policy_of(
	const struct egress_filter *f, struct egress_policy *ret, struct error *err);
/* As the configuration is loaded: with the metadata rule and the pools, also when not enabled. */
must_check int egress_policy_load(
	const struct egress_filter *f, struct egress_policy *ret, struct error *err);
/* As what a person writes on a command line: with the metadata rule. */
must_check int egress_policy_written(
	const struct egress_filter *f, struct egress_policy *ret, struct error *err);
/* Not enabled: valid. */
must_check int egress_policy_validate(const struct egress_filter *f, struct error *err);

/* The ports of a rule, sorted; none: it holds for every port, and for what has none. */
size_t egress_policy_ports(
	const struct egress_policy *p, const struct egress_rule *r, const uint16_t **ret);

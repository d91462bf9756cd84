/*
 * libcloop: the operator's egress filter (network.md §4). Everything here is pure: neither nft nor
 * an engine is touched. Seed: EgressFilter and its methods.
 */
#pragma once

#include <cloop/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What sandboxes of an executor may reach; all zero = no filter. Lists end with NULL, NULL = empty.
 * Filled by the caller, begun by cloop_egress_filter_init().
 */
struct cloop_egress_filter {
	bool enabled;                   /* without it the others have no effect */
	bool internal;                  /* a network without a way off the host: only the broker */
	const char *const *allow_cidrs; /* at most 256 */
	const char *const *deny_cidrs;  /* at most 256 */
	const char *const *allow_ports; /* decimal, at most 64 */
	bool allow_public_internet;
	const char *const *resolvers; /* "address" or "address:port", at most 16 */
	/* Not a key of the file: a destination is allowed on every port. */
	bool allow_all_ports;
	const char *broker;               /* "address:port" of the proxy; NULL = none */
	const char *const *host_patterns; /* only so that the policy can warn; at most 256 */
	bool ipv6;
	const char *subnet_pool, *subnet_pool6; /* NULL = the defaults */
	const void *reserved[4];
};

/* A compiled filter; immutable, any thread. Released by cloop_egress_policy_free(). */
struct cloop_egress_policy;

/* All zero: nothing is filtered. */
CLOOP_API void cloop_egress_filter_init(struct cloop_egress_filter *filter);

/*
 * Compiles the filter whatever `enabled` says, so that a mistake in a switched-off section is seen
 * when it is written. Errors: the egress_* codes of network.md §4.2; the message names the key and
 * the value, without a prefix. Seed: EgressFilter.Compile.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_egress_filter_compile(const struct cloop_egress_filter *filter,
	struct cloop_egress_policy **policy, struct cloop_error *err);
/*
 * Compiles a filter that is to be applied; one that is switched off is egress_filter_disabled.
 * Errors otherwise as above, but for the driver's name before the message. Seed:
 * EgressFilter.Policy.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_egress_filter_policy(const struct cloop_egress_filter *filter,
	struct cloop_egress_policy **policy, struct cloop_error *err);
/*
 * 0: it can be applied, or is switched off. Errors as of a policy, and egress_filter_empty. Seed:
 * EgressFilter.Validate.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_egress_filter_validate(
	const struct cloop_egress_filter *filter, struct cloop_error *err);

CLOOP_API void cloop_egress_policy_free(struct cloop_egress_policy *policy);
/* "isolated", "brokered" or "filtered". Static. */
CLOOP_API const char *cloop_egress_policy_mode(const struct cloop_egress_policy *policy);
/*
 * What the policy does not do, as a sentence each (network.md §4.5). Released by
 * cloop_strings_free(); an empty list is not NULL.
 */
CLOOP_API CLOOP_MUST_CHECK char **cloop_egress_policy_warnings(
	const struct cloop_egress_policy *policy);
/*
 * The ruleset for nft(8) that sandboxes on the network interface `bridge` would get (network.md
 * §7), in a table of the given name. Released by cloop_string_free(). Errors: nft_name_invalid (a
 * name that is no table's or interface's).
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_egress_policy_nft(const struct cloop_egress_policy *policy,
	const char *table, const char *bridge, char **text, struct cloop_error *err);

#ifdef __cplusplus
}
#endif

/*
 * The lists of a filter, read and in their one form (network.md §4.2). Pure.
 */
#pragma once

#include "net/egress-filter.h"
#include "net/endpoint.h"
#include "net/metadata.h"

/* A broker or a proxy. */
struct egress_gate {
	struct endpoint at;
	bool proxy;
};

/* Sorted and without repeats; an endpoint that is both is a broker. */
struct egress_lists {
	struct cidr *allow, *deny; /* owned */
	size_t n_allow, n_deny;
	uint16_t ports[EGRESS_FILTER_PORTS_MAX];
	size_t n_ports;
	struct egress_gate *gates; /* owned */
	size_t n_gates;
	struct endpoint resolvers[EGRESS_FILTER_RESOLVERS_MAX];
	size_t n_resolvers;
	struct strv hosts; /* folded patterns */
};
/* The services inside a range that the allow list does not name and the deny list does not cover.
 */
void egress_lists_services(
	const struct egress_lists *l, const struct cidr *range, struct metadata_services *ret);
void egress_lists_done(struct egress_lists *l);

/*
 * The checks of §4.2 in their order; `metadata`: with the rule of §5.3. -1: the first failure, with
 * the key at fault ("allow_cidrs[3]") as the detail `key`. *ret is the caller's in any case
 * (egress_lists_done); whole only on success.
 */
must_check int egress_lists_read(
	const struct egress_filter *f, bool metadata, struct egress_lists *ret, struct error *err);

/*
 * The rule of §4.2 step 2 for one range that somebody grants: egress_cidr_invalid, _everything,
 * _reserved.
 */
must_check int egress_lists_read_cidr(struct text t, struct cidr *ret, struct error *err);
/* A number from 1 to 65535; egress_port_invalid. */
must_check int egress_lists_read_port(struct text t, uint16_t *ret, struct error *err);
/* Sorts and drops repeats; answers how many are left. */
size_t egress_lists_sort_ports(uint16_t *ports, size_t n);

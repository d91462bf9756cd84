/*
 * The metadata rule (network.md §5.3): a granted range does not open the cloud metadata services
 * inside it unless the same list names them one by one. One function for every surface. Pure.
 */
#pragma once

#include "base/str.h"
#include "net/cidr.h"

enum { METADATA_MAX = 16 }; /* more than there are services */

struct metadata_services {
	const struct special_block *v[METADATA_MAX]; /* by address, IPv4 first */
	size_t n;
};

/* What a range strictly contains: a single address contains nothing. */
void metadata_within(const struct cidr *range, struct metadata_services *ret);

/*
 * The services strictly inside `range` that no entry of `allow` names as a single address and no
 * entry of `deny` covers: none = no finding.
 */
void metadata_find(const struct cidr *range, struct cidr_list allow, struct cidr_list deny,
	struct metadata_services *ret);

/* Fills err (egress_cidr_metadata): the finding, and how to write what was meant. Always -1. */
int metadata_refuse(
	const struct cidr *range, const struct metadata_services *found, struct error *err);
/* "169.254.169.254, 169.254.170.2" */
void metadata_list(const struct metadata_services *s, struct str *out);

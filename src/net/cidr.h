/*
 * Ranges of IP addresses (network.md §3.1). One spelling of each: host bits cleared, a range of
 * mapped addresses as IPv4, RFC 5952. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/address.h"
#include "base/error.h"
#include "base/special-address.h"
#include "base/text.h"

enum { CIDR_TEXT_SIZE = INET6_ADDRSTRLEN + 4 };

struct cidr {
	struct address address; /* never a mapped one */
	unsigned bits;
};

/* A view. */
struct cidr_list {
	const struct cidr *v;
	size_t n;
};

/*
 * ADDRESS/BITS; blanks and tabs around it are trimmed, a bare address is refused. -1:
 * egress_cidr_invalid, *ret is not written.
 */
must_check int cidr_parse(struct text t, struct cidr *ret, struct error *err);
void cidr_text(const struct cidr *c, char out[CIDR_TEXT_SIZE]);
/* The /32 or /128 of an address (unmapped). */
struct cidr cidr_host(const struct address *a);
/* The range of a row of the tables. */
struct cidr cidr_of_block(const struct special_block *b);

/* A single address. */
bool cidr_is_host(const struct cidr *c);
/* A single loopback address: a grant can mean it for the proxy (§4.2). */
bool cidr_is_loopback_host(const struct cidr *c);
/* The other lies wholly inside, or is the same. */
bool cidr_contains(const struct cidr *c, const struct cidr *inside);
bool cidr_overlaps(const struct cidr *a, const struct cidr *b);
bool cidr_has(const struct cidr *c, const struct address *a);

/* IPv4 first, then address, then bits. */
int cidr_compare(const struct cidr *a, const struct cidr *b);
/* Sorts and drops repeats; answers how many are left. */
size_t cidr_normalize(struct cidr *list, size_t n);

/*
 * `block_prefix` of §5.2: the class of the narrowest block that contains the range, else of the
 * first that it overlaps (metadata services left out), else SPECIAL_NONE.
 */
enum special_class cidr_class(const struct cidr *c);

/* Without blanks and tabs at both ends: nothing else is tolerated around addresses and names. */
struct text cidr_trim(struct text t);

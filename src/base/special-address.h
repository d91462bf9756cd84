/*
 * Addresses that are not the public Internet (network.md §5.1, §5.2): metadata services, the
 * special-purpose blocks, and forms that carry an IPv4 address which somebody else will unpack.
 * Pure.
 */
#pragma once

#include <stdbool.h>

#include "base/address.h"
#include "base/text.h"

enum special_class {
	SPECIAL_NONE, /* public */
	SPECIAL_METADATA,
	SPECIAL_UNSPECIFIED,
	SPECIAL_THIS_NETWORK,
	SPECIAL_LOOPBACK,
	SPECIAL_MULTICAST,
	SPECIAL_LINK_LOCAL,
	SPECIAL_SITE_LOCAL,
	SPECIAL_PRIVATE,
	SPECIAL_CGNAT,
	SPECIAL_DISCARD,
	SPECIAL_PROTOCOL,
	SPECIAL_DOCUMENTATION,
	SPECIAL_TRANSLATION,
	SPECIAL_BENCHMARKING,
	SPECIAL_BROADCAST,
	SPECIAL_RESERVED,
	SPECIAL_CLASS_COUNT
};
const char *special_class_text(enum special_class c); /* "public" for none */
int special_class_from_text(struct text t);

/* One row of the tables of §5.1 and §5.2. */
struct special_block {
	struct address address;
	unsigned bits;
	enum special_class class;
	const char *service; /* of a metadata service: whose it is; else NULL */
};
/*
 * The block set in the order of the rules, metadata services included: IPv4, then IPv6. A block
 * comes before the wider ones that hold it.
 */
const struct special_block *special_address_blocks(size_t *ret_n);
/* The translation prefixes, in order. */
const struct special_block *special_address_translations(size_t *ret_n);

/*
 * `block(address)` of network.md §5.2. address: 4 bytes of AF_INET or 16 of AF_INET6, in network
 * order. Mapped addresses (::ffff:0:0/96) are judged as IPv4. Another family is reserved.
 */
enum special_class special_address_class(int family, const void *address);
/*
 * The same for an address as a URL spells it, a dotted quad or [IPv6]; false: the text is none,
 * but a name.
 */
bool special_address_literal(struct text host, enum special_class *ret);

/*
 * IP address literals, in their strict spelling: four decimal parts without leading zeros, or IPv6
 * as RFC 4291 writes it, no zone, no brackets, no prefix. An IPv4-mapped IPv6 address is judged as
 * the IPv4 address it stands for.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>

#include "base/text.h"

struct address {
	int family; /* AF_INET or AF_INET6 */
	unsigned char bytes[16];
};

/* Text of any length and bytes; *ret is written only on success. */
bool address_parse(struct text t, struct address *ret);
/*
 * The one canonical spelling (RFC 5952): an address mapped to IPv4 ends in a dotted quad, any other
 * is hexadecimal.
 */
void address_text(const struct address *a, char out[INET6_ADDRSTRLEN]);
/* The address that is meant: IPv4 for a mapped one, any other as it is. */
struct address address_unmapped(const struct address *a);
/* IPv4 first, then bytewise: <0, 0, >0. */
int address_compare(const struct address *a, const struct address *b);
/* 32 or 128. */
unsigned address_bits(const struct address *a);

bool address_unspecified(const struct address *a);
bool address_multicast(const struct address *a);
bool address_loopback(const struct address *a);
/* 255.255.255.255 */
bool address_broadcast(const struct address *a);
/* Same family and the same first `bits` bits. */
bool address_same_network(const struct address *a, const struct address *b, unsigned bits);
/* All bits behind the first `bits` are zeros (false) or ones (true). */
bool address_host_part_is(const struct address *a, unsigned bits, bool ones);

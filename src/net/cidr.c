#include "net/cidr.h"

#include <stdio.h>

#include "base/num.h"

struct text cidr_trim(struct text t)
{
	while (t.len > 0 && (t.p[0] == ' ' || t.p[0] == '\t'))
		t = text_after(t, 1);
	while (t.len > 0 && (t.p[t.len - 1] == ' ' || t.p[t.len - 1] == '\t'))
		t.len--;
	return t;
}

static void clear_host_bits(struct cidr *c)
{
	for (unsigned i = 0; i < sizeof(c->address.bytes); i++) {
		unsigned kept = c->bits > i * 8 ? c->bits - i * 8 : 0;
		if (kept < 8)
			c->address.bytes[i] &= (unsigned char)(0xff00 >> kept);
	}
}

/* What is wrong with it, or NULL. */
static const char *read_range(struct text t, struct cidr *ret)
{
	struct text address = {0}, bits = cidr_trim(t);
	uint64_t n;

	text_split(&bits, '/', &address);
	if (!bits.p)
		return "a range is ADDRESS/BITS";
	if (!address_parse(address, &ret->address))
		return "what stands before the slash is no IP address";
	if (num_parse(bits, address_bits(&ret->address), &n) != NUM_OK)
		return "what stands behind the slash is no number of bits";
	ret->bits = (unsigned)n;
	struct address meant = address_unmapped(&ret->address);
	if (meant.family != ret->address.family) {
		if (ret->bits < 96)
			return "it mixes IPv4 and IPv6";
		*ret = (struct cidr){meant, ret->bits - 96};
	}
	clear_host_bits(ret);
	return NULL;
}

int cidr_parse(struct text t, struct cidr *ret, struct error *err)
{
	struct cidr c = {.bits = 0};
	struct address bare;
	const char *fault = read_range(t, &c);

	if (!fault) {
		*ret = c;
		return 0;
	}
	error_set(err, ERROR_EGRESS_CIDR_INVALID, "%s is no range: %s", quoted(t), fault);
	if (address_parse(cidr_trim(t), &bare))
		error_set_remedy(
			err, "one address is written with its bits: /%u", address_bits(&bare));
	return -1;
}

void cidr_text(const struct cidr *c, char out[CIDR_TEXT_SIZE])
{
	char address[INET6_ADDRSTRLEN];

	address_text(&c->address, address);
	snprintf(out, CIDR_TEXT_SIZE, "%s/%u", address, c->bits);
}

struct cidr cidr_host(const struct address *a)
{
	struct address meant = address_unmapped(a);

	return (struct cidr){meant, address_bits(&meant)};
}

struct cidr cidr_of_block(const struct special_block *b)
{
	return (struct cidr){b->address, b->bits};
}

bool cidr_is_host(const struct cidr *c)
{
	return c->bits == address_bits(&c->address);
}

bool cidr_is_loopback_host(const struct cidr *c)
{
	return cidr_is_host(c) && address_loopback(&c->address);
}

bool cidr_contains(const struct cidr *c, const struct cidr *inside)
{
	return inside->bits >= c->bits && cidr_has(c, &inside->address);
}

bool cidr_overlaps(const struct cidr *a, const struct cidr *b)
{
	return cidr_contains(a, b) || cidr_contains(b, a);
}

bool cidr_has(const struct cidr *c, const struct address *a)
{
	return address_same_network(&c->address, a, c->bits);
}

int cidr_compare(const struct cidr *a, const struct cidr *b)
{
	int order = address_compare(&a->address, &b->address);

	if (order != 0)
		return order;
	return a->bits < b->bits ? -1 : a->bits > b->bits;
}

static int compare(const void *a, const void *b)
{
	return cidr_compare(a, b);
}

size_t cidr_normalize(struct cidr *list, size_t n)
{
	size_t kept = 0;

	if (n > 0)
		qsort(list, n, sizeof(*list), compare);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || cidr_compare(&list[kept - 1], &list[i]) != 0)
			list[kept++] = list[i];
	return kept;
}

enum special_class cidr_class(const struct cidr *c)
{
	size_t n;
	const struct special_block *blocks = special_address_blocks(&n);
	enum special_class overlapped = SPECIAL_NONE;

	for (size_t i = 0; i < n; i++) {
		struct cidr block = cidr_of_block(&blocks[i]);
		if (cidr_contains(&block, c))
			return blocks[i].class;
		if (overlapped == SPECIAL_NONE && blocks[i].class != SPECIAL_METADATA &&
			cidr_overlaps(&block, c))
			overlapped = blocks[i].class;
	}
	return overlapped;
}

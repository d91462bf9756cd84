#include "base/special-address.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/enum-text.h"

static const char *const names[] = {
	[SPECIAL_NONE] = "public",
	[SPECIAL_METADATA] = "metadata",
	[SPECIAL_UNSPECIFIED] = "unspecified",
	[SPECIAL_THIS_NETWORK] = "this-network",
	[SPECIAL_LOOPBACK] = "loopback",
	[SPECIAL_MULTICAST] = "multicast",
	[SPECIAL_LINK_LOCAL] = "link-local",
	[SPECIAL_SITE_LOCAL] = "site-local",
	[SPECIAL_PRIVATE] = "private",
	[SPECIAL_CGNAT] = "cgnat",
	[SPECIAL_DISCARD] = "discard",
	[SPECIAL_PROTOCOL] = "protocol",
	[SPECIAL_DOCUMENTATION] = "documentation",
	[SPECIAL_TRANSLATION] = "translation",
	[SPECIAL_BENCHMARKING] = "benchmarking",
	[SPECIAL_BROADCAST] = "broadcast",
	[SPECIAL_RESERVED] = "reserved",
};
ENUM_TEXT(special_class, names, SPECIAL_CLASS_COUNT)

#define V4(...) \
	{ \
		AF_INET, \
		{ \
			__VA_ARGS__ \
		} \
	}
#define V6(...) \
	{ \
		AF_INET6, \
		{ \
			__VA_ARGS__ \
		} \
	}

static const struct special_block blocks[] = {
	{V4(100, 100, 100, 200), 32, SPECIAL_METADATA, "Alibaba Cloud"},
	{V4(168, 63, 129, 16), 32, SPECIAL_METADATA, "Azure WireServer"},
	{V4(169, 254, 0, 23), 32, SPECIAL_METADATA, "Tencent Cloud"},
	{V4(169, 254, 42, 42), 32, SPECIAL_METADATA, "Scaleway"},
	{V4(169, 254, 169, 252), 32, SPECIAL_METADATA, "GKE"},
	{V4(169, 254, 169, 254), 32, SPECIAL_METADATA, "most clouds"},
	{V4(169, 254, 170, 2), 32, SPECIAL_METADATA, "Amazon ECS"},
	{V4(169, 254, 170, 23), 32, SPECIAL_METADATA, "EKS Pod Identity"},
	{V4(192, 0, 0, 192), 32, SPECIAL_METADATA, "Oracle Cloud (classic)"},
	{V4(0, 0, 0, 0), 32, SPECIAL_UNSPECIFIED, NULL},
	{V4(0), 8, SPECIAL_THIS_NETWORK, NULL},
	{V4(127), 8, SPECIAL_LOOPBACK, NULL},
	{V4(224), 4, SPECIAL_MULTICAST, NULL},
	{V4(169, 254), 16, SPECIAL_LINK_LOCAL, NULL},
	{V4(10), 8, SPECIAL_PRIVATE, NULL},
	{V4(172, 16), 12, SPECIAL_PRIVATE, NULL},
	{V4(192, 168), 16, SPECIAL_PRIVATE, NULL},
	{V4(100, 64), 10, SPECIAL_CGNAT, NULL},
	{V4(192, 0, 0), 24, SPECIAL_PROTOCOL, NULL},
	{V4(192, 0, 2), 24, SPECIAL_DOCUMENTATION, NULL},
	{V4(198, 51, 100), 24, SPECIAL_DOCUMENTATION, NULL},
	{V4(203, 0, 113), 24, SPECIAL_DOCUMENTATION, NULL},
	{V4(192, 88, 99), 24, SPECIAL_TRANSLATION, NULL},
	{V4(198, 18), 15, SPECIAL_BENCHMARKING, NULL},
	{V4(255, 255, 255, 255), 32, SPECIAL_BROADCAST, NULL},
	{V4(240), 4, SPECIAL_RESERVED, NULL},
	{V6(0xfd, 0x00, 0x00, 0x42, [15] = 0x42), 128, SPECIAL_METADATA, "Scaleway"},
	{V6(0xfd, 0x00, 0xa9, 0xfe, 0xa9, 0xfe, [15] = 0x01), 128, SPECIAL_METADATA, "Linode"},
	{V6(0xfd, 0x00, 0x0e, 0xc2, [15] = 0x23), 128, SPECIAL_METADATA, "EKS Pod Identity"},
	{V6(0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, 0x54), 128, SPECIAL_METADATA, "Amazon EC2"},
	{V6(0xfd, 0x20, 0x00, 0xce, [14] = 0x02, 0x54), 128, SPECIAL_METADATA, "Google Cloud"},
	{V6(0xfe, 0x80, [12] = 0xa9, 0xfe, 0xa9, 0xfe), 128, SPECIAL_METADATA, "OpenStack"},
	{V6(0), 128, SPECIAL_UNSPECIFIED, NULL},
	{V6([15] = 1), 128, SPECIAL_LOOPBACK, NULL},
	{V6(0xff), 8, SPECIAL_MULTICAST, NULL},
	{V6(0xfe, 0x80), 10, SPECIAL_LINK_LOCAL, NULL},
	{V6(0xfe, 0xc0), 10, SPECIAL_SITE_LOCAL, NULL},
	{V6(0xfc), 7, SPECIAL_PRIVATE, NULL},
	{V6(0x01, 0x00), 64, SPECIAL_DISCARD, NULL},
	{V6(0x01, 0x00, [7] = 0x01), 64, SPECIAL_DISCARD, NULL},
	{V6(0x20, 0x01), 23, SPECIAL_PROTOCOL, NULL},
	{V6(0x20, 0x01, 0x0d, 0xb8), 32, SPECIAL_DOCUMENTATION, NULL},
	{V6(0x3f, 0xff), 20, SPECIAL_DOCUMENTATION, NULL},
	{V6(0x5f, 0x00), 16, SPECIAL_PROTOCOL, NULL},
};

/* Forms that carry an IPv4 address. */
static const struct special_block translations[] = {
	{V6(0x00, 0x64, 0xff, 0x9b), 96, SPECIAL_TRANSLATION, NULL},
	{V6(0x00, 0x64, 0xff, 0x9b, 0x00, 0x01), 48, SPECIAL_TRANSLATION, NULL},
	{V6([8] = 0xff, 0xff), 96, SPECIAL_TRANSLATION, NULL},
	{V6(0x20, 0x02), 16, SPECIAL_TRANSLATION, NULL},
	{V6(0), 96, SPECIAL_TRANSLATION, NULL},
	{V6(0x20, 0x01), 32, SPECIAL_TRANSLATION, NULL},
};

/* Where it lies in each of them, and what a public address in it makes it. */
static const struct carried {
	unsigned char at[4];
	bool inverted;
	enum special_class public_inside;
} carried[] = {
	{{12, 13, 14, 15}, false, SPECIAL_NONE},
	{{6, 7, 9, 10}, false, SPECIAL_TRANSLATION},
	{{12, 13, 14, 15}, false, SPECIAL_TRANSLATION},
	{{2, 3, 4, 5}, false, SPECIAL_TRANSLATION},
	{{12, 13, 14, 15}, false, SPECIAL_TRANSLATION},
	{{12, 13, 14, 15}, true, SPECIAL_TRANSLATION},
};
static_assert(ARRAY_SIZE(carried) == ARRAY_SIZE(translations), "a row for every prefix");

const struct special_block *special_address_blocks(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(blocks);
	return blocks;
}

const struct special_block *special_address_translations(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(translations);
	return translations;
}

/* The first, and so the narrowest, block that holds it; `whole`: single addresses only. */
static enum special_class look_up(const struct address *a, bool whole)
{
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		if ((!whole || blocks[i].bits == 128) &&
			address_same_network(a, &blocks[i].address, blocks[i].bits))
			return blocks[i].class;
	return SPECIAL_NONE;
}

static enum special_class class_of_carried(const struct carried *c, const struct address *a)
{
	struct address inner = {.family = AF_INET};

	for (size_t i = 0; i < sizeof(c->at); i++)
		inner.bytes[i] = a->bytes[c->at[i]] ^ (c->inverted ? 0xff : 0);
	enum special_class class = look_up(&inner, false);
	return class == SPECIAL_NONE ? c->public_inside : class;
}

/* Single addresses come before the translation forms, since ::/96 holds two of them. */
static enum special_class class_of_ipv6(const struct address *a)
{
	enum special_class class = look_up(a, true);

	if (class != SPECIAL_NONE)
		return class;
	for (size_t i = 0; i < ARRAY_SIZE(translations); i++)
		if (address_same_network(a, &translations[i].address, translations[i].bits))
			return class_of_carried(&carried[i], a);
	return look_up(a, false);
}

enum special_class special_address_class(int family, const void *address)
{
	struct address a = {.family = family};

	if (family != AF_INET && family != AF_INET6)
		return SPECIAL_RESERVED;
	memcpy(a.bytes, address, address_bits(&a) / 8);
	a = address_unmapped(&a);
	return a.family == AF_INET ? look_up(&a, false) : class_of_ipv6(&a);
}

bool special_address_literal(struct text host, enum special_class *ret)
{
	char text[INET6_ADDRSTRLEN];
	unsigned char address[16];
	bool bracketed = text_starts(host, "[") && text_ends(host, "]");
	struct text inner = bracketed ? (struct text){host.p + 1, host.len - 2} : host;
	int family = bracketed ? AF_INET6 : AF_INET;

	if (inner.len == 0 || inner.len >= sizeof(text) || text_has_byte(inner, '\0'))
		return false;
	memcpy(text, inner.p, inner.len);
	text[inner.len] = '\0';
	if (inet_pton(family, text, address) != 1)
		return false;
	*ret = special_address_class(family, address);
	return true;
}

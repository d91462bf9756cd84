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

struct block {
	unsigned char prefix[16];
	unsigned bits;
	enum special_class class;
};

/* Narrower blocks come before wider ones that hold them. */
static const struct block blocks4[] = {
	{{100, 100, 100, 200}, 32, SPECIAL_METADATA},
	{{168, 63, 129, 16}, 32, SPECIAL_METADATA},
	{{169, 254, 0, 23}, 32, SPECIAL_METADATA},
	{{169, 254, 42, 42}, 32, SPECIAL_METADATA},
	{{169, 254, 169, 252}, 32, SPECIAL_METADATA},
	{{169, 254, 169, 254}, 32, SPECIAL_METADATA},
	{{169, 254, 170, 2}, 32, SPECIAL_METADATA},
	{{169, 254, 170, 23}, 32, SPECIAL_METADATA},
	{{192, 0, 0, 192}, 32, SPECIAL_METADATA},
	{{0, 0, 0, 0}, 32, SPECIAL_UNSPECIFIED},
	{{0}, 8, SPECIAL_THIS_NETWORK},
	{{127}, 8, SPECIAL_LOOPBACK},
	{{224}, 4, SPECIAL_MULTICAST},
	{{169, 254}, 16, SPECIAL_LINK_LOCAL},
	{{10}, 8, SPECIAL_PRIVATE},
	{{172, 16}, 12, SPECIAL_PRIVATE},
	{{192, 168}, 16, SPECIAL_PRIVATE},
	{{100, 64}, 10, SPECIAL_CGNAT},
	{{192, 0, 0}, 24, SPECIAL_PROTOCOL},
	{{192, 0, 2}, 24, SPECIAL_DOCUMENTATION},
	{{198, 51, 100}, 24, SPECIAL_DOCUMENTATION},
	{{203, 0, 113}, 24, SPECIAL_DOCUMENTATION},
	{{192, 88, 99}, 24, SPECIAL_TRANSLATION},
	{{198, 18}, 15, SPECIAL_BENCHMARKING},
	{{255, 255, 255, 255}, 32, SPECIAL_BROADCAST},
	{{240}, 4, SPECIAL_RESERVED},
};

/* Judged before the translation forms, since ::/96 holds two of them. */
static const struct block exact6[] = {
	{{0xfd, 0x00, 0x00, 0x42, [15] = 0x42}, 128, SPECIAL_METADATA},
	{{0xfd, 0x00, 0xa9, 0xfe, 0xa9, 0xfe, [15] = 0x01}, 128, SPECIAL_METADATA},
	{{0xfd, 0x00, 0x0e, 0xc2, [15] = 0x23}, 128, SPECIAL_METADATA},
	{{0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54}, 128, SPECIAL_METADATA},
	{{0xfd, 0x20, 0x00, 0xce, [14] = 0x02, [15] = 0x54}, 128, SPECIAL_METADATA},
	{{0xfe, 0x80, [12] = 0xa9, 0xfe, 0xa9, 0xfe}, 128, SPECIAL_METADATA},
	{{0}, 128, SPECIAL_UNSPECIFIED},
	{{[15] = 1}, 128, SPECIAL_LOOPBACK},
};

static const struct block blocks6[] = {
	{{0xff}, 8, SPECIAL_MULTICAST},
	{{0xfe, 0x80}, 10, SPECIAL_LINK_LOCAL},
	{{0xfe, 0xc0}, 10, SPECIAL_SITE_LOCAL},
	{{0xfc}, 7, SPECIAL_PRIVATE},
	{{0x01, 0x00}, 64, SPECIAL_DISCARD},
	{{0x01, 0x00, [7] = 0x01}, 64, SPECIAL_DISCARD},
	{{0x20, 0x01}, 23, SPECIAL_PROTOCOL},
	{{0x20, 0x01, 0x0d, 0xb8}, 32, SPECIAL_DOCUMENTATION},
	{{0x3f, 0xff}, 20, SPECIAL_DOCUMENTATION},
	{{0x5f, 0x00}, 16, SPECIAL_PROTOCOL},
};

/* Forms that carry an IPv4 address, and where it lies. */
static const struct carrier {
	unsigned char prefix[16];
	unsigned bits;
	unsigned char at[4];
	bool inverted;
	enum special_class public_inside; /* what a public address in it makes it */
} carriers[] = {
	{{0x00, 0x64, 0xff, 0x9b}, 96, {12, 13, 14, 15}, false, SPECIAL_NONE},
	{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, {6, 7, 9, 10}, false, SPECIAL_TRANSLATION},
	{{[8] = 0xff, 0xff}, 96, {12, 13, 14, 15}, false, SPECIAL_TRANSLATION},
	{{0x20, 0x02}, 16, {2, 3, 4, 5}, false, SPECIAL_TRANSLATION},
	{{0}, 96, {12, 13, 14, 15}, false, SPECIAL_TRANSLATION},
	{{0x20, 0x01}, 32, {12, 13, 14, 15}, true, SPECIAL_TRANSLATION},
};

static const unsigned char mapped[12] = {[10] = 0xff, 0xff};

static bool begins(const unsigned char *address, const unsigned char *prefix, unsigned bits)
{
	unsigned bytes = bits / 8, rest = bits % 8;

	if (memcmp(address, prefix, bytes) != 0)
		return false;
	return rest == 0 || (unsigned)(address[bytes] ^ prefix[bytes]) >> (8 - rest) == 0;
}

static enum special_class look_up(const unsigned char *address, const struct block *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (begins(address, b[i].prefix, b[i].bits))
			return b[i].class;
	return SPECIAL_NONE;
}

static enum special_class class_of_ipv4(const unsigned char *address)
{
	return look_up(address, blocks4, ARRAY_SIZE(blocks4));
}

static enum special_class class_of_carried(const struct carrier *c, const unsigned char *address)
{
	unsigned char inner[4];

	for (size_t i = 0; i < sizeof(inner); i++)
		inner[i] = c->inverted ? (unsigned char)~address[c->at[i]] : address[c->at[i]];
	enum special_class class = class_of_ipv4(inner);
	return class == SPECIAL_NONE ? c->public_inside : class;
}

static enum special_class class_of_ipv6(const unsigned char *address)
{
	if (memcmp(address, mapped, sizeof(mapped)) == 0)
		return class_of_ipv4(address + sizeof(mapped));
	enum special_class class = look_up(address, exact6, ARRAY_SIZE(exact6));
	if (class != SPECIAL_NONE)
		return class;
	for (size_t i = 0; i < ARRAY_SIZE(carriers); i++)
		if (begins(address, carriers[i].prefix, carriers[i].bits))
			return class_of_carried(&carriers[i], address);
	return look_up(address, blocks6, ARRAY_SIZE(blocks6));
}

enum special_class special_address_class(int family, const void *address)
{
	if (family == AF_INET)
		return class_of_ipv4(address);
	return family == AF_INET6 ? class_of_ipv6(address) : SPECIAL_RESERVED;
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

#include "base/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

bool address_parse(struct text t, struct address *ret)
{
	char buffer[INET6_ADDRSTRLEN];
	struct address a = {0};

	if (t.len == 0 || t.len >= sizeof(buffer) || text_has_byte(t, '\0'))
		return false;
	memcpy(buffer, t.p, t.len);
	buffer[t.len] = '\0';
	a.family = strchr(buffer, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(a.family, buffer, a.bytes) != 1)
		return false;
	*ret = a;
	return true;
}

void address_text(const struct address *a, char out[INET6_ADDRSTRLEN])
{
	static const unsigned char compatible[12];
	const unsigned char *b = a->bytes;

	/* inet_ntop writes ::1.2.3.4, a form that RFC 4291 has withdrawn. */
	if (a->family == AF_INET6 && memcmp(b, compatible, sizeof(compatible)) == 0 &&
		(b[12] || b[13]))
		snprintf(out, INET6_ADDRSTRLEN, "::%x:%x", (unsigned)(b[12] << 8 | b[13]),
			(unsigned)(b[14] << 8 | b[15]));
	else
		inet_ntop(a->family, b, out, INET6_ADDRSTRLEN);
}

unsigned address_bits(const struct address *a)
{
	return a->family == AF_INET ? 32 : 128;
}

struct address address_unmapped(const struct address *a)
{
	static const unsigned char prefix[12] = {[10] = 0xff, [11] = 0xff};
	struct address v4 = {.family = AF_INET};

	if (a->family == AF_INET || memcmp(a->bytes, prefix, sizeof(prefix)) != 0)
		return *a;
	memcpy(v4.bytes, a->bytes + sizeof(prefix), 4);
	return v4;
}

int address_compare(const struct address *a, const struct address *b)
{
	if (a->family != b->family)
		return a->family == AF_INET ? -1 : 1;
	return memcmp(a->bytes, b->bytes, address_bits(a) / 8);
}

static bool bit(const struct address *a, unsigned i)
{
	return a->bytes[i / 8] >> (7 - i % 8) & 1;
}

bool address_host_part_is(const struct address *a, unsigned bits, bool ones)
{
	for (unsigned i = bits; i < address_bits(a); i++)
		if (bit(a, i) != ones)
			return false;
	return true;
}

bool address_unspecified(const struct address *a)
{
	struct address m = address_unmapped(a);

	return address_host_part_is(&m, 0, false);
}

bool address_broadcast(const struct address *a)
{
	struct address m = address_unmapped(a);

	return m.family == AF_INET && address_host_part_is(&m, 0, true);
}

bool address_multicast(const struct address *a)
{
	struct address m = address_unmapped(a);

	return m.family == AF_INET ? m.bytes[0] >> 4 == 0xe : m.bytes[0] == 0xff;
}

bool address_loopback(const struct address *a)
{
	struct address m = address_unmapped(a);

	if (m.family == AF_INET)
		return m.bytes[0] == 127;
	return memcmp(m.bytes, in6addr_loopback.s6_addr, 16) == 0;
}

bool address_same_network(const struct address *a, const struct address *b, unsigned bits)
{
	if (a->family != b->family)
		return false;
	unsigned whole = bits / 8, rest = bits % 8;
	if (memcmp(a->bytes, b->bytes, whole) != 0)
		return false;
	return rest == 0 || (unsigned)(a->bytes[whole] ^ b->bytes[whole]) >> (8 - rest) == 0;
}

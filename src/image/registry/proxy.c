#include "image/registry/proxy.h"

#include <arpa/inet.h>

#include "base/num.h"

struct address {
	int family;
	unsigned char bytes[16];
};

static bool read_address(struct text t, struct address *ret)
{
	char text[INET6_ADDRSTRLEN];

	if (text_starts(t, "[") && text_ends(t, "]"))
		t = (struct text){t.p + 1, t.len - 2};
	if (t.len == 0 || t.len >= sizeof(text))
		return false;
	memcpy(text, t.p, t.len);
	text[t.len] = '\0';
	ret->family = memchr(text, ':', t.len) ? AF_INET6 : AF_INET;
	return inet_pton(ret->family, text, ret->bytes) == 1;
}

static bool same_bits(const struct address *a, const struct address *b, uint64_t bits)
{
	size_t bytes = bits / 8;
	unsigned rest = (unsigned)(bits % 8);

	if (a->family != b->family || memcmp(a->bytes, b->bytes, bytes) != 0)
		return false;
	return rest == 0 || (a->bytes[bytes] ^ b->bytes[bytes]) >> (8 - rest) == 0;
}

/* ADDRESS or ADDRESS/BITS. */
static bool covers_address(struct text entry, const struct address *host)
{
	struct address own;
	struct text address;
	uint64_t most = host->family == AF_INET ? 32 : 128, bits = most;

	text_split(&entry, '/', &address);
	if (entry.p && num_parse(entry, most, &bits) != NUM_OK)
		return false;
	return read_address(address, &own) && same_bits(&own, host, bits);
}

static bool covers_name(struct text entry, struct text host)
{
	if (text_starts(entry, "."))
		entry = text_after(entry, 1);
	if (entry.len == 0 || host.len < entry.len)
		return false;
	struct text end = text_after(host, host.len - entry.len);
	for (size_t i = 0; i < entry.len; i++)
		if (ascii_to_lower(entry.p[i]) != end.p[i])
			return false;
	return host.len == entry.len || host.p[host.len - entry.len - 1] == '.';
}

/* Takes :PORT off an entry; false: it holds for another port. */
static bool take_port(struct text *entry, uint16_t port)
{
	const char *colon = memrchr(entry->p, ':', entry->len);
	uint64_t own;

	if (!colon || (colon != memchr(entry->p, ':', entry->len) && colon[-1] != ']'))
		return true; /* no colon, or an IPv6 address */
	struct text digits = text_after(*entry, (size_t)(colon + 1 - entry->p));
	if (num_parse(digits, UINT16_MAX, &own) != NUM_OK)
		return true;
	entry->len = (size_t)(colon - entry->p);
	return own == port;
}

static bool covers(struct text entry, const struct url *u)
{
	struct address address;
	struct text host = text_of(u->host);

	if (text_is(entry, "*"))
		return true;
	if (entry.len == 0 || !take_port(&entry, u->port))
		return false;
	return read_address(host, &address) ? covers_address(entry, &address)
					    : covers_name(entry, host);
}

bool proxy_bypassed(const char *no_proxy, const struct url *u)
{
	struct text rest = text_of(no_proxy), part, word;

	if (url_names_loopback(u))
		return true;
	while (no_proxy && text_split(&rest, ',', &part))
		while (text_split(&part, ' ', &word))
			if (covers(text_trim(word), u))
				return true;
	return false;
}

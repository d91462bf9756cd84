#include "image/host.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/num.h"

enum { HOST_MAX = 253, LABEL_MAX = 63 };

static bool label_valid(struct text label)
{
	return label.len >= 1 && label.len <= LABEL_MAX && label.p[0] != '-' &&
	       label.p[label.len - 1] != '-' && text_all_word(label, "-");
}

static bool all_digits(struct text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (!ascii_digit(t.p[i]))
			return false;
	return t.len > 0;
}

/* A last label that a resolver may take for (a part of) an IPv4 address. */
static bool label_numeric(struct text label)
{
	if (!text_starts_nocase(label, "0x"))
		return all_digits(label);
	for (size_t i = 2; i < label.len; i++)
		if (!strchr("0123456789abcdef", ascii_to_lower(label.p[i])))
			return false;
	return label.len > 2;
}

static bool quad_valid(struct text host)
{
	struct text part;
	uint64_t ignored;
	unsigned n = 0;

	while (text_split(&host, '.', &part)) {
		if (num_parse(part, 255, &ignored) != NUM_OK)
			return false;
		n++;
	}
	return n == 4;
}

static bool ipv6_valid(struct text host)
{
	char lower[INET6_ADDRSTRLEN + 1] = "", canonical[INET6_ADDRSTRLEN];
	struct in6_addr address;

	if (host.len < 4 || host.len > INET6_ADDRSTRLEN + 1 || host.p[host.len - 1] != ']')
		return false;
	for (size_t i = 1; i < host.len - 1; i++)
		lower[i - 1] = ascii_to_lower(host.p[i]);
	if (strlen(lower) != host.len - 2 || strchr(lower, '.') ||
		inet_pton(AF_INET6, lower, &address) != 1)
		return false;
	inet_ntop(AF_INET6, &address, canonical, sizeof(canonical));
	return strcmp(lower, canonical) == 0;
}

bool registry_host_valid(struct text host)
{
	struct text rest = host, label = {NULL, 0};

	if (host.len > 0 && host.p[0] == '[')
		return ipv6_valid(host);
	if (host.len > HOST_MAX)
		return false;
	while (text_split(&rest, '.', &label))
		if (!label_valid(label))
			return false;
	return !label_numeric(label) || quad_valid(host);
}

bool registry_port_valid(struct text port)
{
	uint64_t n;

	return num_parse(port, 65535, &n) == NUM_OK && n >= 1;
}

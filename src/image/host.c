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

bool registry_named(struct text component)
{
	return text_has_byte(component, '.') || text_has_byte(component, ':') ||
	       text_is_nocase(component, "localhost");
}

/*
 * A bracketed host ends with its bracket; any other with its last colon, and what is wrong in front
 * of that is the host's fault.
 */
static bool take_apart(struct text t, struct registry_parts *ret)
{
	const char *end = t.p + t.len, *colon = t.len ? memrchr(t.p, ':', t.len) : NULL;
	const char *stop = colon ? colon : end;

	if (text_starts(t, "[")) {
		const char *bracket = memchr(t.p, ']', t.len);
		if (!bracket || (bracket + 1 != end && bracket + 1 != colon))
			return false;
		stop = bracket + 1;
	}
	ret->host = (struct text){t.p, (size_t)(stop - t.p)};
	if (stop != end)
		ret->port = (struct text){stop + 1, (size_t)(end - stop - 1)};
	return true;
}

enum registry_fault registry_split(struct text registry, struct registry_parts *ret)
{
	*ret = (struct registry_parts){.host = registry};
	if (!take_apart(registry, ret) || !registry_host_valid(ret->host))
		return REGISTRY_BAD_HOST;
	return ret->port.p && !registry_port_valid(ret->port) ? REGISTRY_BAD_PORT : REGISTRY_OK;
}

enum registry_fault registry_judge(struct text registry, struct registry_parts *ret)
{
	enum registry_fault fault = registry_split(registry, ret);

	return registry_named(registry) ? fault : REGISTRY_BAD_HOST;
}

bool registry_is_address(struct text host)
{
	return text_starts(host, "[") || quad_valid(host);
}

bool registry_is_hub(const struct registry_parts *r)
{
	static const char *const names[] = {"docker.io", "index.docker.io", "registry-1.docker.io"};

	for (size_t i = 0; !r->port.p && i < ARRAY_SIZE(names); i++)
		if (text_is_nocase(r->host, names[i]))
			return true;
	return false;
}

void registry_normalize(const struct registry_parts *r, char *out)
{
	static const char hub[] = "docker.io";
	size_t n = r->host.len;

	if (registry_is_hub(r)) {
		memcpy(out, hub, sizeof(hub));
		return;
	}
	for (size_t i = 0; i < n; i++)
		out[i] = ascii_to_lower(r->host.p[i]);
	if (r->port.p) {
		out[n++] = ':';
		memcpy(out + n, r->port.p, r->port.len);
		n += r->port.len;
	}
	out[n] = '\0';
}

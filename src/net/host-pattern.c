#include "net/host-pattern.h"

#include <stdio.h>

#include "net/cidr.h"

enum { LABEL_MAX = 63 };

static bool label_valid(struct text label)
{
	if (label.len == 0 || label.len > LABEL_MAX)
		return false;
	if (label.p[0] == '-' || label.p[label.len - 1] == '-')
		return false;
	return text_all_word(label, "-_");
}

static bool all_of(struct text t, const char *set)
{
	for (size_t i = 0; i < t.len; i++)
		if (!strchr(set, t.p[i]))
			return false;
	return true;
}

/* Some programs read a name that ends so as an address. */
static bool looks_numeric(struct text label)
{
	if (text_starts(label, "0x"))
		return all_of(text_after(label, 2), "0123456789abcdef");
	return all_of(label, "0123456789");
}

/* Of lower-case text. */
static bool name_valid(struct text t)
{
	struct text rest = t, label;

	if (t.len == 0 || t.len > HOST_NAME_MAX_BYTES)
		return false;
	while (text_split(&rest, '.', &label)) {
		if (!label_valid(label))
			return false;
		if (!rest.p)
			return !looks_numeric(label);
	}
	return false;
}

static void lower(struct text t, char *out)
{
	for (size_t i = 0; i < t.len; i++)
		out[i] = ascii_to_lower(t.p[i]);
	out[t.len] = '\0';
}

static struct text without_dot(struct text t)
{
	if (text_ends(t, "."))
		t.len--;
	return t;
}

bool host_pattern_fold_host(struct text t, char out[HOST_PATTERN_SIZE])
{
	char folded[HOST_PATTERN_SIZE];
	struct text host = without_dot(t);
	struct address a;

	if (host.len > HOST_NAME_MAX_BYTES || text_has_byte(host, '\0'))
		return false;
	lower(host, folded);
	bool address = address_parse(text_of(folded), &a) && a.family == AF_INET;
	if (!address && !name_valid(text_of(folded)))
		return false;
	memcpy(out, folded, host.len + 1);
	return true;
}

/* IPv6, with or without brackets. */
static bool fold_ipv6(struct text t, char out[HOST_PATTERN_SIZE])
{
	bool bracketed = text_starts(t, "[") && text_ends(t, "]");
	struct text inner = bracketed ? (struct text){t.p + 1, t.len - 2} : t;
	struct address a;

	if (!address_parse(inner, &a) || a.family != AF_INET6)
		return false;
	a = address_unmapped(&a);
	address_text(&a, out);
	return true;
}

static bool fold_below(struct text t, char out[HOST_PATTERN_SIZE])
{
	char name[HOST_PATTERN_SIZE];
	struct address a;

	if (!host_pattern_fold_host(text_after(t, 2), name) || address_parse(text_of(name), &a))
		return false;
	return snprintf(out, HOST_PATTERN_SIZE, "*.%s", name) < HOST_PATTERN_SIZE;
}

int host_pattern_parse(struct text t, char out[HOST_PATTERN_SIZE], struct error *err)
{
	struct text inner = cidr_trim(t);
	bool good;

	if (text_is(inner, "*")) {
		memcpy(out, "*", 2);
		return 0;
	}
	if (text_starts(inner, "*."))
		good = fold_below(inner, out);
	else
		good = host_pattern_fold_host(inner, out) || fold_ipv6(inner, out);
	return good ? 0
		    : error_set(err, ERROR_EGRESS_HOST_INVALID, "%s is no host or pattern of hosts",
			      quoted(t));
}

bool host_pattern_matches(const char *pattern, const char *host)
{
	if (strcmp(pattern, "*") == 0)
		return true;
	if (!text_starts(text_of(pattern), "*."))
		return strcmp(pattern, host) == 0;
	return strlen(host) > strlen(pattern + 1) && text_ends(text_of(host), pattern + 1);
}

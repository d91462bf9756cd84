#include "executor/container/network/network-line.h"

#include "base/cleanup.h"

enum engine_network_kind network_line_kind(enum engine engine)
{
	return engine == ENGINE_PODMAN ? ENGINE_NETWORK_PODMAN : ENGINE_NETWORK_DOCKER;
}

static void add_range(struct strv *ret, const struct cidr *range, const struct address *gateway)
{
	char text[CIDR_TEXT_SIZE], at[INET6_ADDRSTRLEN];

	cidr_text(range, text);
	address_text(gateway, at);
	strv_addf(ret, "--subnet=%s", text);
	strv_addf(ret, "--gateway=%s", at);
}

void network_line_create(
	const struct network_line *l, const struct subnet *subnet, struct strv *ret)
{
	STRV_ADD(ret, "network", "create", "--driver=bridge");
	if (l->internal)
		STRV_ADD(ret, "--internal");
	/* Its DNS plugin forwards queries even from internal networks (podman 4.3.1). */
	if (l->engine == ENGINE_PODMAN)
		STRV_ADD(ret, "--disable-dns");
	add_range(ret, &subnet->range, &subnet->gateway);
	if (subnet->ipv6) {
		STRV_ADD(ret, "--ipv6");
		add_range(ret, &subnet->range6, &subnet->gateway6);
	}
	STRV_ADD(ret, "--label=cloop.managed=true");
	strv_addf(ret, "--label=cloop.executor=%s", l->executor);
	strv_addf(ret, "--label=cloop.home=%s", l->home);
	strv_addf(ret, "--label=cloop.egress=%s", l->mode);
	if (l->handle)
		strv_addf(ret, "--label=cloop.handle=%s", l->handle);
	strv_add(ret, l->name);
}

void network_line_inspect(const char *name, struct strv *ret)
{
	STRV_ADD(ret, "network", "inspect", "--format={{json .}}", name);
}

void network_line_remove(const char *name, struct strv *ret)
{
	STRV_ADD(ret, "network", "rm", name);
}

void network_line_disconnect(const char *name, const char *container, struct strv *ret)
{
	STRV_ADD(ret, "network", "disconnect", "--force", name, container);
}

void network_line_list(const char *home, struct strv *ret)
{
	STRV_ADD(ret, "network", "ls", "--filter=label=cloop.managed=true");
	strv_addf(ret, "--filter=label=cloop.home=%s", home);
	STRV_ADD(ret, "--format={{.Name}}");
}

void network_line_users(const char *name, struct strv *ret)
{
	STRV_ADD(ret, "ps", "--all", "--quiet", "--no-trunc");
	strv_addf(ret, "--filter=network=%s", name);
}

static bool says(struct text words, const char *phrase)
{
	for (; words.len > 0; words = text_after(words, 1))
		if (text_starts_nocase(words, phrase))
			return true;
	return false;
}

/* podman: "unable to find network …: network not found"; docker: "network X not found". */
bool network_line_says_unknown(struct text words)
{
	return says(words, "no such network") ||
	       (says(words, "network") && says(words, "not found"));
}

bool network_line_says_exists(struct text words)
{
	return says(words, "already exists");
}

/* podman also calls a name that is taken "already used". */
bool network_line_says_overlap(struct text words)
{
	return !network_line_says_exists(words) &&
	       (says(words, "overlap") || says(words, "already used"));
}

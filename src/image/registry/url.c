#include "image/registry/url.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/special-address.h"
#include "image/host.h"

enum { PORT_HTTP = 80, PORT_HTTPS = 443 };

void url_done(struct url *u)
{
	free(u->target);
	*u = (struct url){.target = NULL};
}

static uint16_t port_of_scheme(bool https)
{
	return https ? PORT_HTTPS : PORT_HTTP;
}

/* Bytes before the first of these, or all. */
static size_t span_before(struct text t, const char *stops)
{
	size_t n = 0;

	while (n < t.len && !strchr(stops, t.p[n]))
		n++;
	return n;
}

static const char *judge_bytes(struct text t)
{
	if (t.len == 0)
		return "is empty";
	if (t.len > URL_MAX_BYTES)
		return "has more than 2048 bytes";
	for (size_t i = 0; i < t.len; i++)
		if (t.p[i] < 0x21 || t.p[i] > 0x7e || t.p[i] == '\\')
			return "holds a byte that no URL has";
	return NULL;
}

static const char *read_authority(struct text t, struct url *ret)
{
	struct registry_parts parts;
	uint64_t port = port_of_scheme(ret->https);

	if (text_has_byte(t, '@'))
		return "holds user information";
	if (t.len > IMAGE_NAME_MAX || registry_split(t, &parts) != REGISTRY_OK)
		return "has no host that is a plain name or address";
	if (parts.port.p && num_parse(parts.port, UINT16_MAX, &port) != NUM_OK)
		return "has no host that is a plain name or address";
	for (size_t i = 0; i < parts.host.len; i++)
		ret->host[i] = ascii_to_lower(parts.host.p[i]);
	ret->host[parts.host.len] = '\0';
	ret->port = (uint16_t)port;
	return NULL;
}

/* What stands behind the authority; without a fragment, and with the slash that may be missing. */
static void set_target(struct text rest, struct url *ret)
{
	size_t n = span_before(rest, "#");

	ret->has_fragment = n < rest.len;
	ret->target = mem_printf(
		"%s%.*s", n > 0 && rest.p[0] == '/' ? "" : "/", (int)n, n > 0 ? rest.p : "");
}

/* Behind "//". */
static const char *read_network_path(struct text t, struct url *ret)
{
	size_t n = span_before(t, "/?#");
	const char *fault = read_authority((struct text){t.p, n}, ret);

	if (!fault)
		set_target(text_after(t, n), ret);
	return fault;
}

static const char *read_absolute(struct text t, struct url *ret)
{
	static const struct {
		const char *prefix;
		bool https;
	} schemes[] = {{"https://", true}, {"http://", false}};

	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
		if (text_starts_nocase(t, schemes[i].prefix)) {
			ret->https = schemes[i].https;
			return read_network_path(text_after(t, strlen(schemes[i].prefix)), ret);
		}
	return "is no absolute URL of http or https";
}

const char *url_parse(struct text t, struct url *ret)
{
	struct url u = {.target = NULL};
	const char *fault = judge_bytes(t);

	if (!fault)
		fault = read_absolute(t, &u);
	if (!fault)
		*ret = u;
	return fault;
}

/* The base's path up to its last slash, or to its query if only that is new. */
static size_t kept_of(const char *target, struct text t)
{
	size_t path = span_before(text_of(target), "?");

	if (t.p[0] == '?')
		return path;
	while (path > 0 && target[path - 1] != '/')
		path--;
	return path;
}

static void resolve_path(const struct url *base, struct text t, struct url *ret)
{
	size_t kept = t.p[0] == '/' ? 0 : kept_of(base->target, t);
	auto_free char *joined = mem_printf("%.*s%.*s", (int)kept, base->target, (int)t.len, t.p);

	ret->https = base->https;
	ret->port = base->port;
	memcpy(ret->host, base->host, sizeof(ret->host));
	set_target(text_of(joined), ret);
}

const char *url_resolve(const struct url *base, struct text t, struct url *ret)
{
	struct url u = {.https = base->https};
	const char *fault = judge_bytes(t);

	if (fault)
		return fault;
	size_t first = span_before(t, ":/?#");
	if (first < t.len && t.p[first] == ':')
		fault = read_absolute(t, &u);
	else if (text_starts(t, "//"))
		fault = read_network_path(text_after(t, 2), &u);
	else
		resolve_path(base, t, &u);
	if (!fault)
		*ret = u;
	return fault;
}

void url_of_registry(bool https, const char *registry, const char *target, struct url *ret)
{
	*ret = (struct url){.https = https};
	const char *fault = read_authority(text_of(registry), ret);
	if (fault)
		ret->host[0] = '\0'; /* no reference has such a registry */
	ret->target = mem_strdup(target);
}

bool url_same_origin(const struct url *a, const struct url *b)
{
	return a->https == b->https && a->port == b->port && strcmp(a->host, b->host) == 0;
}

bool url_names_loopback(const struct url *u)
{
	enum special_class class;

	if (special_address_literal(text_of(u->host), &class))
		return class == SPECIAL_LOOPBACK;
	return strcmp(u->host, "localhost") == 0;
}

char *url_authority(const struct url *u)
{
	return u->port == port_of_scheme(u->https) ? mem_strdup(u->host)
						   : mem_printf("%s:%u", u->host, u->port);
}

char *url_render(const struct url *u)
{
	auto_free char *authority = url_authority(u);

	return mem_printf("%s://%s%s", u->https ? "https" : "http", authority, u->target);
}

#include "image/policy-entry.h"

#include <stdio.h>

#include "image/host.h"
#include "image/repository.h"

static enum problem_code check_bytes(struct text t)
{
	for (size_t i = 0; i < t.len; i++) {
		unsigned char c = (unsigned char)t.p[i];
		if (c >= 0x80)
			return PROBLEM_NOT_ASCII;
		if (c < 0x21 || c == 0x7f)
			return PROBLEM_BAD_BYTE;
	}
	return text_has(t, "://") ? PROBLEM_HAS_SCHEME : PROBLEM_NONE;
}

static enum problem_code code_of(enum registry_fault fault)
{
	switch (fault) {
	case REGISTRY_BAD_HOST:
		return PROBLEM_BAD_HOST;
	case REGISTRY_BAD_PORT:
		return PROBLEM_BAD_PORT;
	case REGISTRY_OK:
		break;
	}
	return PROBLEM_NONE;
}

/* ---- Registries ---- */

static enum problem_code judge_host(struct text t, struct registry_parts *parts, char *out)
{
	enum problem_code code = code_of(registry_judge(t, parts));

	if (code == PROBLEM_NONE)
		registry_normalize(parts, out);
	return code;
}

/* t begins with a star and is more than that. */
static enum problem_code judge_suffix(struct text t, struct policy_entry *ret)
{
	struct registry_parts parts;
	struct text suffix = text_after(t, text_starts(t, "*.") ? 2 : 1);

	if (!text_starts(t, "*.") || suffix.len == 0 || text_has_byte(suffix, '*'))
		return PROBLEM_BAD_WILDCARD;
	enum problem_code code = code_of(registry_split(suffix, &parts));
	if (code != PROBLEM_NONE)
		return code;
	if (registry_is_address(parts.host))
		return PROBLEM_BAD_WILDCARD;
	/* Lower-cased, but never folded: nothing below the Hub's names is the Hub. */
	for (size_t i = 0; i < t.len; i++)
		ret->text[i] = ascii_to_lower(t.p[i]);
	ret->text[t.len] = '\0';
	return PROBLEM_NONE;
}

enum problem_code policy_entry_registry(struct text t, struct policy_entry *ret)
{
	struct registry_parts parts;
	enum problem_code code = check_bytes(t);

	*ret = (struct policy_entry){.registry_len = 0};
	if (code != PROBLEM_NONE)
		return code;
	if (text_has_byte(t, '/'))
		return PROBLEM_PATH_IN_REGISTRY;
	if (text_is(t, "*")) {
		ret->text[0] = '*';
		return PROBLEM_NONE;
	}
	if (text_starts(t, "*"))
		return judge_suffix(t, ret);
	return text_has_byte(t, '*') ? PROBLEM_BAD_WILDCARD : judge_host(t, &parts, ret->text);
}

static enum problem_code judge_plain(
	struct text t, struct registry_parts *parts, struct policy_entry *ret)
{
	enum problem_code code = check_bytes(t);

	*ret = (struct policy_entry){.registry_len = 0};
	if (code != PROBLEM_NONE)
		return code;
	if (text_has_byte(t, '/'))
		return PROBLEM_PATH_IN_REGISTRY;
	return text_has_byte(t, '*') ? PROBLEM_BAD_WILDCARD : judge_host(t, parts, ret->text);
}

enum problem_code policy_entry_host(struct text t, struct policy_entry *ret)
{
	struct registry_parts parts;

	return judge_plain(t, &parts, ret);
}

static bool is_loopback(struct text host)
{
	return text_is_nocase(host, "localhost") || text_is(host, "[::1]") ||
	       (registry_is_address(host) && text_starts(host, "127."));
}

enum problem_code policy_entry_loopback(struct text t, struct policy_entry *ret)
{
	struct registry_parts parts;
	enum problem_code code = judge_plain(t, &parts, ret);

	return code == PROBLEM_NONE && !is_loopback(parts.host) ? PROBLEM_NOT_LOOPBACK : code;
}

bool policy_entry_is_broad(const struct policy_entry *registry)
{
	struct text t = text_of(registry->text);

	return text_starts(t, "*.") && !text_has_byte(text_after(t, 2), '.');
}

/* ---- Repositories ---- */

/* A repository as it is taken apart. */
struct repo_parts {
	struct text name;     /* without the final slash and star */
	struct text registry; /* p = NULL: none */
	struct text path;     /* p = NULL: all of that registry */
	bool below;           /* it ends with slash and star */
};

static enum problem_code take_star(struct text t, struct repo_parts *p)
{
	p->below = text_ends(t, "/*");
	p->name = (struct text){t.p, p->below ? t.len - 2 : t.len};
	return p->name.len == 0 || text_has_byte(p->name, '*') ? PROBLEM_BAD_WILDCARD
							       : PROBLEM_NONE;
}

/* The name is one component. */
static enum problem_code split_single(struct repo_parts *p)
{
	bool host = registry_named(p->name);

	if (p->below && host)
		p->registry = p->name;
	else if (text_has_byte(p->name, ':'))
		return PROBLEM_TAG_IN_REPO;
	else if (host)
		return PROBLEM_REGISTRY_WITHOUT_REPOSITORY;
	else
		p->path = p->name;
	return PROBLEM_NONE;
}

static enum problem_code split_name(struct repo_parts *p)
{
	struct text rest = p->name, first;
	const char *slash = memrchr(p->name.p, '/', p->name.len);

	if (!slash)
		return split_single(p);
	size_t last = (size_t)(slash + 1 - p->name.p);
	if (text_has_byte(text_after(p->name, last), ':'))
		return PROBLEM_TAG_IN_REPO;
	text_split(&rest, '/', &first);
	p->path = p->name;
	if (registry_named(first)) {
		p->registry = first;
		p->path = rest;
	}
	return PROBLEM_NONE;
}

static enum problem_code judge_path(const struct repo_parts *p)
{
	const char *where;

	switch (repository_judge(p->path, &where)) {
	case REPOSITORY_UPPERCASE:
		return PROBLEM_UPPERCASE;
	case REPOSITORY_BAD:
		return PROBLEM_BAD_REPOSITORY;
	case REPOSITORY_OK:
		break;
	}
	return PROBLEM_NONE;
}

/* Puts the normal form together; name_too_long. */
static enum problem_code join(
	const struct repo_parts *p, const struct registry_parts *host, struct policy_entry *ret)
{
	bool official = p->registry.p && p->path.p && !p->below && registry_is_hub(host) &&
			!text_has_byte(p->path, '/');
	size_t n;

	if (p->registry.p)
		registry_normalize(host, ret->text);
	ret->registry_len = n = strlen(ret->text);
	size_t name = n + (n && p->path.p ? 1 : 0) + (official ? strlen("library/") : 0) +
		      (p->path.p ? p->path.len : 0);
	if (name > IMAGE_NAME_MAX || p->name.len > IMAGE_NAME_MAX)
		return PROBLEM_NAME_TOO_LONG;
	snprintf(ret->text + n, sizeof(ret->text) - n, "%s%s%.*s%s", n && p->path.p ? "/" : "",
		official ? "library/" : "", p->path.p ? (int)p->path.len : 0,
		p->path.p ? p->path.p : "", p->below ? "/*" : "");
	return PROBLEM_NONE;
}

enum problem_code policy_entry_repo(struct text t, struct policy_entry *ret)
{
	struct repo_parts p = {.below = false};
	struct registry_parts host = {.host = {NULL, 0}};
	enum problem_code code = check_bytes(t);

	*ret = (struct policy_entry){.registry_len = 0};
	if (code == PROBLEM_NONE && text_has_byte(t, '@'))
		code = PROBLEM_TAG_IN_REPO;
	if (code == PROBLEM_NONE)
		code = take_star(t, &p);
	if (code == PROBLEM_NONE)
		code = split_name(&p);
	if (code == PROBLEM_NONE && p.registry.p)
		code = code_of(registry_judge(p.registry, &host));
	if (code == PROBLEM_NONE && p.path.p)
		code = judge_path(&p);
	return code == PROBLEM_NONE ? join(&p, &host, ret) : code;
}

/* ---- What cosign is given ---- */

enum problem_code policy_entry_key(struct text path)
{
	struct text component;

	if (!text_starts(path, "/"))
		return PROBLEM_NOT_ABSOLUTE;
	if (text_has_control(path))
		return PROBLEM_BAD_PATH;
	while (text_split(&path, '/', &component))
		if (text_is(component, ".") || text_is(component, ".."))
			return PROBLEM_BAD_PATH;
	return PROBLEM_NONE;
}

enum problem_code policy_entry_issuer(struct text url)
{
	struct registry_parts parts;
	struct text rest, host;

	if (!text_starts(url, "https://"))
		return PROBLEM_BAD_ISSUER;
	rest = text_after(url, strlen("https://"));
	for (size_t i = 0; i < rest.len; i++)
		if (rest.p[i] < 0x21 || rest.p[i] > 0x7e || rest.p[i] == '?' || rest.p[i] == '#')
			return PROBLEM_BAD_ISSUER;
	text_split(&rest, '/', &host);
	return registry_judge(host, &parts) == REGISTRY_OK ? PROBLEM_NONE : PROBLEM_BAD_ISSUER;
}

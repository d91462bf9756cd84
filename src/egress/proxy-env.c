#include "egress/proxy-env.h"

#include <stdio.h>

#include "base/mem.h"

enum { HUB_HOSTS_MAX = 64 };

void proxy_env_done(struct proxy_env *e)
{
	for (size_t i = 0; i < e->n; i++)
		secret_done(&e->variables[i].value);
	e->n = 0;
}

bool proxy_env_is_secret(const char *name)
{
	return text_ends_nocase(text_of(name), "_PROXY");
}

static void add(struct proxy_env *e, const char *name, struct text value)
{
	e->variables[e->n].name = name;
	SECRET_CONCAT(&e->variables[e->n++].value, value);
}

static void add_list(struct proxy_env *e, const char *name, const struct strv *list)
{
	auto_free char *joined = strv_join(list, ",");

	add(e, name, text_of(joined));
}

static void add_url(struct proxy_env *e, const char *name, const struct proxy_env_session *s)
{
	char proxy[ENDPOINT_TEXT_SIZE];

	endpoint_text(&s->proxy, proxy);
	e->variables[e->n].name = name;
	SECRET_CONCAT(&e->variables[e->n++].value, TEXT("http://"), s->id, TEXT(":"), s->token,
		TEXT("@"), text_of(proxy));
}

/* Hosts that are reached without the proxy: the sandbox itself and the hub. */
static char *direct_hosts(const struct strv *hub)
{
	static const char *const own[] = {"localhost", "127.0.0.1", "::1"};
	AUTO(strv) list = STRV_INIT(ARRAY_SIZE(own) + HUB_HOSTS_MAX);

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (strv_add(&list, own[i]) < 0)
			return NULL;
	for (size_t i = 0; hub && i < hub->n && list.n < list.max; i++) {
		auto_free char *lower = mem_strdup(hub->v[i]);
		for (char *c = lower; *c; c++)
			*c = ascii_to_lower(*c);
		if (lower[0] && !strpbrk(lower, ", \t\r\n") && !strv_has(&list, lower) &&
			strv_add(&list, lower) < 0)
			return NULL;
	}
	return strv_join(&list, ",");
}

void proxy_env_make(const struct proxy_env_session *s, struct proxy_env *ret)
{
	auto_free char *direct = direct_hosts(s->hub_hosts);

	ret->n = 0;
	add_list(ret, "CLOOP_EGRESS_ALLOW", s->hosts);
	if (s->cidrs->n > 0)
		add_list(ret, "CLOOP_EGRESS_ALLOW_CIDRS", s->cidrs);
	add(ret, "CLOOP_EGRESS_EXPIRES", s->expires);
	add(ret, "CLOOP_EGRESS_GRANT_ID", s->grant_id);
	add(ret, "CLOOP_EGRESS_SESSION", s->id);
	add_url(ret, "HTTPS_PROXY", s);
	add_url(ret, "HTTP_PROXY", s);
	add(ret, "NODE_USE_ENV_PROXY", TEXT("1"));
	add(ret, "NO_PROXY", text_of(direct));
	add_url(ret, "http_proxy", s);
	add_url(ret, "https_proxy", s);
	add(ret, "no_proxy", text_of(direct));
}

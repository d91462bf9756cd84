/* What a sandbox with a session on the proxy finds in its environment (network.md §14). Pure. */
#pragma once

#include "base/secret.h"
#include "base/strv.h"
#include "net/endpoint.h"

struct proxy_env_session {
	struct text id, token;
	struct endpoint proxy;
	struct text grant_id;
	const struct strv *hosts, *cidrs, *hub_hosts;
	struct text expires; /* of the grant, RFC 3339 */
};

enum { PROXY_ENV_MAX = 12 };
struct proxy_env {
	struct {
		const char *name;
		struct secret value;
	} variables[PROXY_ENV_MAX]; /* by name */
	size_t n;
};
void proxy_env_done(struct proxy_env *e);

/* *ret is the caller's (proxy_env_done); what it held is not looked at. */
void proxy_env_make(const struct proxy_env_session *s, struct proxy_env *ret);
/* The variable is to be redacted and on no argv: its name ends in _PROXY, in any case. */
bool proxy_env_is_secret(const char *name);

/*
 * An egress grant (network.md §11): what its holders may reach through the proxy. Pure.
 */
#pragma once

#include <jansson.h>

#include "net/egress-lists.h"
#include "vault/subject.h"

enum {
	EGRESS_GRANT_HOSTS_MAX = 256,
	EGRESS_GRANT_CIDRS_MAX = 256,
	EGRESS_GRANT_PORTS_MAX = 64,
	EGRESS_GRANT_METHODS_MAX = 16,
	EGRESS_GRANT_SCOPE_MAX = 64,
	EGRESS_GRANT_TTL = 86400, /* seconds, where none is given */
};
#define EGRESS_GRANT_BYTES_MAX (UINT64_C(1) << 50)

struct egress_grant {
	char *id;
	struct subject subject;
	char *scope;       /* a label for people; "" where there is none */
	struct strv hosts; /* folded, sorted */
	struct cidr *cidrs;
	size_t n_cidrs;
	uint16_t ports[EGRESS_GRANT_PORTS_MAX];
	size_t n_ports;
	struct strv methods;                   /* "*" alone, or upper-case, sorted */
	uint64_t max_bytes_up, max_bytes_down; /* 0: no limit */
	int64_t session_ttl_s;
	int64_t created_at_ns, expires_at_ns; /* since 1970; 0: not given */
};
void egress_grant_done(struct egress_grant *g);

/*
 * Reads and normalizes a grant. -1: the first failure in the order of §11.1, with the field at
 * fault ("ports[1]") as the detail `path`. *ret is the caller's in any case (egress_grant_done);
 * whole only on success.
 */
must_check int egress_grant_read(json_t *object, struct egress_grant *ret, struct error *err);
/* The same without the metadata rule: to show what one on record comes to (§5.3, §10). */
must_check int egress_grant_recall(json_t *object, struct egress_grant *ret, struct error *err);
/* The fields of §11.1 in their normal form. */
must_check json_t *egress_grant_to_json(const struct egress_grant *g);

/* A size on the command line: `64k`, `unlimited`; 0 = no limit. -1: egress_quota_invalid. */
must_check int egress_grant_bytes(struct text t, uint64_t *ret, struct error *err);

/*
 * A run's live use of one grant (network.md §12.1): what the store, the owner of a proxy and the
 * proxy itself say to each other. Pure.
 */
#pragma once

#include "base/hash.h"
#include "base/secret.h"
#include "egress/grant.h"

enum {
	EGRESS_SESSION_ID_DIGITS = 24,
	EGRESS_SESSION_ID_SIZE = 5 + EGRESS_SESSION_ID_DIGITS + 1, /* "sess_", digits, NUL */
	EGRESS_SESSION_CONNECTIONS_MAX = 1024,
	EGRESS_SESSION_DIAL_TIMEOUT_MAX = 120, /* seconds */
};

/* Of the run directory: what its proxy said, a JSON object a line. */
#define EGRESS_EVENTS_FILE "egress-events"
enum {
	EGRESS_EVENT_MAX = 8192,     /* bytes of a line */
	EGRESS_EVENTS_MAX = 1 << 20, /* of the file; what comes then is counted, not kept */
};

struct egress_counters {
	uint64_t bytes_up, bytes_down; /* from the session's beginning */
	uint64_t connections;          /* open now */
};

struct egress_session {
	char id[EGRESS_SESSION_ID_SIZE];
	/* Only where the session was made; one that is restored has none. */
	struct secret token;
	/* Of the token's 64 digits, in lower-case hexadecimal: always there. */
	char token_sha256[SHA256_HEX_SIZE];
	/* A snapshot, with the default budgets filled in where the grant has none. */
	struct egress_grant grant;
	/*
	 * By boottime of this boot, which no step of the wall clock moves. The grant's own end, of
	 * which expires_at_ns goes along, is one of the wall clock.
	 */
	int64_t deadline_ms;
	unsigned max_connections;
	unsigned dial_timeout_s;
	uint64_t bytes_up, bytes_down; /* used before */
};
/* Wipes the token. */
void egress_session_done(struct egress_session *s);

/* sess_ and 24 digits 0-9a-f. */
bool egress_session_id_valid(struct text id);

/* All of it but the token: {"session","token_sha256","grant":{…},"deadline_boottime_ms",…}. */
must_check json_t *egress_session_to_json(const struct egress_session *s);
/*
 * Reads it back; members of other names are left alone. -1: egress_proxy_failed, or what is wrong
 * with the grant. *ret is the caller's in any case (egress_session_done); whole only on success.
 */
must_check int egress_session_read(json_t *object, struct egress_session *ret, struct error *err);

/* The sessions that a proxy serves, as its owner opens and closes them (network.md §12.1). */
#pragma once

#include "egress/proxy/state.h"
#include "egress/session.h"

struct session {
	LIST_ENTRY(session) link;
	struct proxy *proxy;
	struct egress_session s; /* without token */
	char *listener;          /* the only one it is good on */
	char *members;           /* of its events, rendered */
	struct meter up, down;
	bool lapsed; /* its deadline has come: it stays to be told so */
	struct loop_source *timer;
	LIST_HEAD(session_conns, conn) conns;
	uint64_t n_conns;
};

/* The session whose credentials these are, if it is of this listener; NULL: none. p = NULL: there
 * are none. */
struct session *session_table_find(struct proxy *p, struct text credentials, const char *listener);
/* Its deadline has passed, whether or not the timer came yet. */
bool session_table_expired(const struct session *s);

/* What the owner asks for; the requests of control.h. */
must_check int session_table_open(struct proxy *p, json_t *request, struct error *err);
must_check int session_table_renew(struct proxy *p, json_t *request, struct error *err);
/* Members of the answer. */
must_check json_t *session_table_close(struct proxy *p, json_t *request);
must_check json_t *session_table_stats(struct proxy *p);
/* Without rows: the owner is gone. */
void session_table_drop_all(struct proxy *p);

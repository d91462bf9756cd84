/*
 * One client's connection. Its states are files of their own (request.c, dial.c, relay.c,
 * tunnel.c); each has a function that does what can be done without waiting, and says what it waits
 * for through conn_wants().
 */
#pragma once

#include "egress/proxy/chunk.h"
#include "egress/proxy/session-table.h"

enum conn_state {
	CONN_REQUEST, /* reads a head */
	CONN_RESOLVE,
	CONN_DIAL,
	CONN_RELAY,
	CONN_TUNNEL,
	CONN_DRAIN, /* our last bytes go out, and the client's end is awaited */
	CONN_STATES
};

/* What a state's function answers. */
enum step {
	STEP_WAIT,
	STEP_AGAIN, /* the state has changed */
	STEP_CLOSE,
};

struct conn_end {
	int fd; /* -1: none */
	struct loop_source *source;
	/* What epoll reports. More than what is wanted costs a wake-up at most; then it is less. */
	uint32_t watched, wanted;
	uint32_t ready; /* what woke us */
};

/* A body on its way. */
struct body {
	enum http_body_kind kind;
	uint64_t left;
	struct chunks chunks;
	bool done;
};

/* A request that is not finished; a tunnel has none. */
struct exchange {
	struct authority to;
	char method[HTTP_METHOD_SIZE];
	bool connect, to_head, keep_alive;
	unsigned minor;
	struct egress_pending pending;
	struct lookup *lookup;
	bool resolved;
	struct address addresses[RESOLVER_ADDRESSES_MAX];
	size_t n_addresses, next_address;
	int64_t dial_until_ms;
	struct loop_source *dial_timer; /* of a last address with less time than the others */
	struct body request_body, response_body;
	bool reused;         /* on a connection of an earlier request */
	bool upstream_deaf;  /* takes no more of the request; its answer may still come */
	bool upstream_stays; /* for a further request */
	bool responded;      /* the final head was read */
	unsigned interim;
	struct str from;  /* of the origin, not yet read */
	struct str again; /* the request, to be sent once more where `reused` was too late */
};

struct conn {
	LIST_ENTRY(conn) of_listener, of_session;
	struct proxy *proxy;
	struct listener *listener;
	struct session *session; /* counted there; NULL: none */
	struct address peer;
	enum conn_state state;
	struct conn_end client, upstream;
	struct deadline deadline;
	struct flow up, down;
	struct str in; /* of the client, not yet read */
	size_t scanned;
	bool served;  /* it has had an answer before */
	bool unheard; /* an end could not be watched: it is closed */
	struct exchange *x;
	struct authority to; /* where upstream is connected to */
};

/* Takes the descriptor. */
void conn_new(struct listener *l, int fd, const struct address *peer);
/* Ends it at once, with a row if something was going on. */
void conn_cut(struct conn *c, enum egress_verdict verdict);
/* Does what can be done. The connection may be gone after it. */
void conn_run(struct conn *c);
/* A deadline of one. */
void conn_deadline(void *data);

/* ---- For the states ---- */

void conn_wants(struct conn *c, uint32_t client, uint32_t upstream);
/* It was reported that reading will not wait. */
bool conn_readable(const struct conn_end *e);
/* Answers with a refusal and closes; of a blocked answer, the address at fault. */
enum step conn_refuse(struct conn *c, enum egress_verdict v, const struct address *blocked);
/* No more is sent to the client; what it still sends is read for a while, so that it gets to read
 * what was sent. */
enum step conn_drain(struct conn *c);
/* A row of what was allowed, or cut. */
void conn_event(struct conn *c, enum egress_verdict v, const char *reason);
/* Watches the socket as the upstream one. False: it cannot be, and is closed. */
bool conn_attach_upstream(struct conn *c, int fd);
void conn_close_upstream(struct conn *c);
void conn_bind(struct conn *c, struct session *s);
void conn_end_exchange(struct conn *c);
void conn_begin_body(struct body *b, const struct http_body *what);
/* Takes n bytes off the front. */
void conn_drop(struct str *s, size_t n);
/* Reads what is there, about as much as is wanted: FLOW_DONE, _AGAIN, _END, _BROKEN. */
enum flow_result conn_receive(int fd, struct str *into, size_t want);

enum step request_run(struct conn *c);
enum step request_resolved(struct conn *c);
/* The decided request anew, on a connection of its own. */
enum step request_again(struct conn *c);
enum step dial_begin(struct conn *c);
enum step dial_run(struct conn *c);
/* The address did not answer in time: the next one. The connection may be gone after it. */
void dial_gave_up(struct conn *c);
enum step relay_begin(struct conn *c);
enum step relay_run(struct conn *c);
/* A refusal; of an answer that has begun no other can be made, and it ends. */
enum step relay_fail(struct conn *c, enum egress_verdict v);
enum step tunnel_begin(struct conn *c);
enum step tunnel_run(struct conn *c);

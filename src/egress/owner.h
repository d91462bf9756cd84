/*
 * The owner's side of a proxy process (network.md §12.2): starts cloop-egress and tells it what to
 * do. Every call waits for the answer, which takes milliseconds, at most OWNER_ANSWER_MS. Errors
 * are `egress_proxy_failed` where nothing else is said; the proxy is to be stopped then.
 *
 * What the proxy finds out comes as events on `events`, one JSON object a line (§12.4), not
 * blocking: the owner watches it and reads. The proxy writes the rows `egress.connect`, `.request`,
 * `.unauthenticated` and `.close` (one per session: closed, or its deadline came); `.open`,
 * `.renew` and `.restore` are the owner's, who knows which it is.
 */
#pragma once

#include "egress/session.h"
#include "net/endpoint.h"
#include "sys/spawn.h"

enum { EGRESS_OWNER_ANSWER_MS = 2000 };

struct egress_owner {
	struct child proxy; /* pidfd: readable when it has ended */
	int control;        /* hangs up when it has ended */
	int events;         /* non-blocking; the end of it: the proxy has ended */
	int64_t seq;
};
#define EGRESS_OWNER_INIT ((struct egress_owner){.proxy = CHILD_INIT, .control = -1, .events = -1})

/*
 * A listening socket for a proxy: on `address`, which need not be there yet (IP_FREEBIND), with a
 * port that the kernel chooses, or *ret's if that is not 0 (to bind again what was lost). Keep it
 * open as long as the run lives: while one process has it, the port stays, whoever serves it.
 * Descriptor; -1: sandbox_egress_unavailable.
 */
must_check int egress_owner_listen(
	const struct address *address, struct endpoint *ret, struct error *err);

/* cloop-egress is beside this program, where program_path() finds it. */
bool egress_owner_installed(void);
/* Starts it, and it has given its privileges up. *ret is EGRESS_OWNER_INIT before. */
must_check int egress_owner_start(const char *program, struct egress_owner *ret, struct error *err);
/* The descriptor stays the caller's; the proxy gets a copy. */
must_check int egress_owner_add_listener(
	struct egress_owner *o, const char *id, int listen_fd, struct error *err);
must_check int egress_owner_remove_listener(
	struct egress_owner *o, const char *id, struct error *err);

/* What audit rows say of a session besides; NULL: nothing. Never seen by the sandbox. */
struct egress_owner_facts {
	const char *handle, *project, *executor_id, *subject;
};
/*
 * The session is good on this listener only. One of this ID that is open already gets the tighter
 * budgets, and keeps the larger counters.
 */
must_check int egress_owner_open(struct egress_owner *o, const struct egress_session *session,
	const char *listener, const struct egress_owner_facts *facts, struct error *err);
/* deadline_ms: boottime. Never shortens. -1 also for a session that is unknown or has lapsed. */
must_check int egress_owner_renew(
	struct egress_owner *o, const char *session, int64_t deadline_ms, struct error *err);
/*
 * Severs its connections, before the call answers. One that is unknown is closed: 1, counters are
 * 0. `reason` is a word for the audit row, such as `run_ended` or `revoked`.
 */
must_check int egress_owner_close(struct egress_owner *o, const char *session, const char *reason,
	struct egress_counters *ret, struct error *err);
/* {"sessions":[{"session","bytes_up","bytes_down","connections"}]} */
must_check int egress_owner_stats(struct egress_owner *o, json_t **ret, struct error *err);

/*
 * Ends it and reaps it: it is asked to, and killed if it does not within a second. What events are
 * left can be read from `events`, which stays open until egress_owner_done().
 */
void egress_owner_stop(struct egress_owner *o);
/* Kills what still runs, closes everything. */
void egress_owner_done(struct egress_owner *o);

/*
 * The session of a run on a proxy of its own (network.md §12, §14): a listener, the process
 * cloop-egress, and what it says.
 *
 * On record, member `egress` of the run: {"session","grant","address","port","bytes_up",
 * "bytes_down","reason"}; counters are asked for each minute, and a second after something was
 * told. `reason`: why the session is closed; null while it is open. A new supervisor opens it
 * again from there, on the same port.
 *
 * The last quarter of RUN/egress-events is kept for refusals: nobody hides one behind requests
 * that are allowed. What does not fit is counted: record warning egress_events_lost.
 */
#pragma once

#include <stdbool.h>

#include "base/strv.h"
#include "egress/owner.h"
#include "net/endpoint.h"

struct supervisor;
struct loop_source;

struct egress {
	struct egress_owner owner;
	bool up;       /* the proxy runs and serves the session */
	int listen_fd; /* our copy, which keeps the port */
	struct endpoint at;
	struct loop_source *events, *ended, *checkpoint;
	struct str line;     /* of an event, as far as it has come */
	size_t written;      /* bytes of RUN/egress-events */
	uint64_t lost;       /* events that did not fit */
	bool soon;           /* counters are asked for before the minute is over */
	int64_t deadline_ms; /* boottime */
};
#define EGRESS_INIT \
	((struct egress){.owner = EGRESS_OWNER_INIT, \
		.listen_fd = -1, \
		.line = STR_INIT(EGRESS_EVENT_MAX + 1)})

/*
 * Step 8, for a run that has a session: binds a port on `address`, starts the proxy, opens the
 * session and puts its URL into the environment of the engine call. -1:
 * sandbox_egress_unavailable, naming what failed; nothing is left then.
 */
must_check int egress_listen(struct supervisor *s, const struct address *address,
	struct endpoint *ret, struct error *err);
/*
 * The same on the address that the plan names, for a network that is not made for the run; nothing
 * where it names none, or the run has no session. The network does not hold the run to the proxy:
 * record warning egress_unenforced.
 */
must_check int egress_listen_configured(struct supervisor *s, struct error *err);
/* A new supervisor: masks the token in `env`, the container's variables, before anything is read */
must_check int egress_mask(struct supervisor *s, const struct strv *env, struct error *err);
/* … and opens the session again if it was open; one that cannot be is told in the record. */
void egress_restore(struct supervisor *s);
/* It lives on until then, by boottime. */
void egress_renew(struct supervisor *s, const char *session, int64_t deadline_ms);
/* Severs what it has open and closes it for good, before it returns. Any number of times. */
void egress_close(struct supervisor *s, const char *reason);
/* The same at the end of the run, with the proxy. */
void egress_end(struct supervisor *s);
/* Kills what is left, without a word. */
void egress_done(struct supervisor *s);

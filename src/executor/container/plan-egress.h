/*
 * The session of a run under an egress grant, as request.json says it: everything but the token
 * (network.md §12.1). Part of the plan (plan.h).
 */
#pragma once

#include "egress/session.h"

struct plan_egress {
	bool present;
	struct egress_session session; /* without a token */
	/* Where its proxy listens on a network that is not made for the run; NULL: see network.h */
	char *address;
};
void plan_egress_done(struct plan_egress *e);

/* A copy, without the token. */
must_check int plan_egress_set(
	struct plan_egress *e, const struct egress_session *session, struct error *err);

/* null for a run without one. */
must_check json_t *plan_egress_to_json(const struct plan_egress *e);
/* null and NULL: none. -1: not of the form. */
must_check int plan_egress_from_json(json_t *j, struct plan_egress *ret);

/*
 * What stands for the proxy's URL in a run's variables until the supervisor knows it. The
 * caller's.
 */
must_check char *plan_egress_pending_url(const char *session);

/*
 * What a run gets of egress grants (network.md §11.3, §12.1): which ones it holds is known before
 * anything is decided; the one that its file names is judged with the decision.
 */
#pragma once

#include "egress/proxy-env.h"
#include "egress/session.h"
#include "egress/settings.h"
#include "run/egress-grants.h"
#include "run/run-lease.h"
#include "spec/apply.h"

enum { RUN_EGRESS_GRANTS_MAX = 4096 };

struct context;
struct decision;

/* A grant that the run holds. */
struct run_egress_grant {
	struct egress_grant grant;
	int64_t expires_at; /* seconds since 1970, by the wall clock of the question */
};

struct run_egress {
	struct run_egress_grant *held; /* newest first */
	struct apply_grant *facts;     /* the same as apply_spec() takes them */
	size_t n;
	/* Of the run, once it was made; id "" = it has none. */
	struct egress_session session;
	struct strv lines; /* NAME=VALUE */
};
#define RUN_EGRESS_INIT ((struct run_egress){.n = 0})
void run_egress_done(struct run_egress *e);

/*
 * The active grants whose subject matches. `s` NULL: the home has no store, and so none. A row that
 * does not read is held by nobody. -1: of the store, or more than RUN_EGRESS_GRANTS_MAX.
 */
must_check int run_egress_find(struct store *s, const struct run_lease_who *who,
	struct run_egress *ret, struct error *err);
/* The one of this ID; NULL: it is not held. */
const struct run_egress_grant *run_egress_held(const struct run_egress *e, const char *id);

/*
 * The grant that the applied file names can be served to this run: else sandbox_egress_unavailable,
 * and the message says why. Comes behind leases in the order of §9.1.
 */
must_check int run_egress_judge(
	const struct context *c, const struct decision *d, struct error *err);
/*
 * The session under the grant that the decision names, if it names one: ID, token, policy. `lines`
 * are its variables, in which the proxy's URL is the one of plan_egress_pending_url(): where the
 * proxy will be, and the token, is the supervisor's to fill in.
 */
must_check int run_egress_make(struct run_egress *e, const struct egress_settings *settings,
	const char *grant, struct error *err);

/* For `sandbox explain`: {grant,subject,policy,expires_at} of the grant that is named, or null. */
must_check json_t *run_egress_to_json(const struct run_egress *e, const char *id);

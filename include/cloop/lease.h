/*
 * libcloop: taking a lease back from the runs that hold it (container-driver.md §15.4).
 * Seed: Executor.RevokeLease, .Revocations, executor.RevokeRequest, executor.RevokeOutcome.
 */
#pragma once

#include <cloop/cancel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is to be done to a run that holds the lease. */
enum cloop_revoke_action {
	CLOOP_REVOKE_SCRUB = 0, /* wipe its files, close its sessions; kill where that cannot do */
	CLOOP_REVOKE_KILL = 1   /* remove the container, too */
};

/* Begun by cloop_revoke_request_init(). */
struct cloop_revoke_request {
	const char *lease; /* "lease_…"; needed */
	const char *grant; /* only what this grant brought; NULL = all of the lease */
	enum cloop_revoke_action action;
	const char *reason; /* for the record; NULL = none */
	const void *reserved[4];
};

/* Scrub, and nothing else given. */
CLOOP_API void cloop_revoke_request_init(struct cloop_revoke_request *request);

/* How a revocation went. */
enum cloop_revoke_state {
	CLOOP_REVOKE_PENDING = 0,    /* begun; nothing is known to be gone yet */
	CLOOP_REVOKE_DONE = 1,       /* no run of this executor holds any of it */
	CLOOP_REVOKE_FAILED = 2,     /* something is still out there: `reason` */
	CLOOP_REVOKE_UNREACHABLE = 3 /* not known: a run could not be asked in time */
};

/* Filled by the library, released by cloop_revoke_outcome_free(). Texts are never NULL. */
struct cloop_revoke_outcome {
	const char *lease, *grant;
	enum cloop_revoke_state state;
	bool held;                  /* a run had it */
	bool killed;                /* at least one container was removed */
	bool sessions;              /* egress sessions were closed */
	const char *const *runs;    /* handles of the runs that held it; ends with NULL */
	const char *const *files;   /* wiped, as DIR/NAME inside; ends with NULL */
	const char *reason;         /* FAILED, UNREACHABLE: why */
	const char *remediation;    /* what to do, for instance which credential to rotate */
	int64_t begun_ns, ended_ns; /* since 1970; ended_ns 0 = pending */
};

CLOOP_API void cloop_revoke_outcome_free(struct cloop_revoke_outcome *outcome);
/* Releases a list that ends with NULL, and its entries. */
CLOOP_API void cloop_revoke_outcomes_free(struct cloop_revoke_outcome **outcomes);

#ifdef __cplusplus
}
#endif

/*
 * What was revoked through a container executor: the last LIB_REVOCATIONS_MAX, oldest first. Safe
 * from several threads.
 */
#pragma once

#include "base/strv.h"
#include "cloop/lease.h"

enum { LIB_REVOCATIONS_MAX = 256, LIB_REVOCATION_RUNS_MAX = 100000 };

/* One, as far as it came. */
struct lib_revocation {
	char *lease, *grant; /* never NULL */
	enum cloop_revoke_state state;
	bool held, killed, sessions;
	struct strv runs, files;
	char *reason, *remediation; /* NULL = none */
	int64_t begun_ns, ended_ns;
};
void lib_revocation_init(struct lib_revocation *r, const struct cloop_revoke_request *request);
void lib_revocation_done(struct lib_revocation *r);
/* A copy for a caller: cloop_revoke_outcome_free(). */
must_check struct cloop_revoke_outcome *lib_revocation_give(const struct lib_revocation *r);

struct lib_revocations;
must_check struct lib_revocations *lib_revocations_new(void);
void lib_revocations_free(struct lib_revocations *l);
/* On record, pending; the number is what lib_revocations_end() takes. */
must_check uint64_t lib_revocations_begin(
	struct lib_revocations *l, const struct lib_revocation *r);
/* How it went; takes *r. */
void lib_revocations_end(struct lib_revocations *l, uint64_t number, struct lib_revocation *r);
/* All of them, a list that ends with NULL: cloop_revoke_outcomes_free(). */
must_check struct cloop_revoke_outcome **lib_revocations_give(struct lib_revocations *l);

/*
 * Taking back what runs hold (disk-and-secrets.md §18): a revocation is stored before anything is
 * sent, every run that holds it is told, and the answers decide its state. Whoever comes later goes
 * on with one that was not finished.
 */
#pragma once

#include <jansson.h>

#include "executor/executor-list.h"
#include "executor/rundir/home.h"
#include "vault/revocation.h"

struct store;

struct revoke_order {
	const char *lease; /* "": every lease that holds the grant */
	const char *grant; /* "": every grant of the lease */
	enum revocation_action action;
	const char *reason; /* NULL = none; what looks like a credential is masked */
	const char *actor;
};
/*
 * Stores it, with the runs that hold it now. Of a whole grant (no lease) the grant ends here, and a
 * second order goes on with the first; it is of a secret, or (egress_…) one of egress. -1:
 * grant_not_found, egress_grant_not_found, lease_not_found, those of the store.
 */
must_check int revoke_store(
	struct store *s, const struct revoke_order *order, int64_t *ret_number, struct error *err);
/* The same for every grant of the secret of this name that is not revoked; numbers are appended. */
must_check int revoke_store_secret(struct store *s, const char *name,
	const struct revoke_order *order, json_t *numbers, struct error *err);

struct revoke_ground {
	const struct home *home;
	struct store *store;
	const struct executor_list *executors; /* NULL: the configuration cannot be read */
	int64_t until; /* boottime: nobody is waited for any longer; 0 = as long as it takes */
};
/*
 * Tells every run of a stored revocation that has not given it back yet, and settles its state.
 * *ret is {"grant","lease","action","state","known","runs":[{run,lease,result,effect,message}],
 * "advice"?}. A run that cannot be told is a result, not an error.
 */
must_check int revoke_carry_out(
	const struct revoke_ground *g, int64_t number, json_t **ret, struct error *err);

/* Is there one to be tried again? Costs a look into an index. */
must_check int revoke_is_due(struct store *s, bool *ret, struct error *err);
/*
 * Tries those again. For every command that touches runs, grants or the audit trail, which also
 * ends leases whose runs are gone: what fails is a warning. Runs and their engines are waited for
 * two seconds in all: who has not answered then is unreachable. A home without a store costs a
 * system call, one without anything to do the opening of it.
 */
void revoke_due(const struct home *home, const char *config_path); /* as context_open() */
void revoke_due_on(const struct home *home, const struct executor_list *executors);

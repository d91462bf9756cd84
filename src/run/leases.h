/*
 * Leases that were opened (disk-and-secrets.md §17): shown, released at the end of their runs,
 * swept when nobody did, and extended while they live.
 */
#pragma once

#include <jansson.h>

#include "executor/rundir/home.h"

struct store;

enum { LEASES_MAX = 100000 };

/* Appends {id,run,project,executor,grants:[{grant,kind,files,env,taken_back}],opened_at,expires_at,
 * hard_end,state} of every open lease, oldest first. */
must_check int leases_list(struct store *s, json_t *list, struct error *err);

/*
 * The run of this handle ended: its lease, if it has one, is released, with its audit row. In the
 * transaction of the caller. Any number of times.
 */
must_check int leases_release(struct store *s, const char *handle, struct error *err);
/*
 * Ends open leases whose run is over or gone. due_only: looks only at those that were not extended
 * in time, which costs nothing where there are none. 0, or -1 + err.
 */
must_check int leases_sweep(
	const struct home *home, struct store *s, bool due_only, struct error *err);

/*
 * What a run's shim asks for every LEASE_EXTEND_SECONDS: judges each grant anew and moves the
 * lease's end, never past its hard end and never back. *ret is {"lease","run","expires_at",
 * "expires_in_s","hard_end","grants":[{grant,kind,result}],"egress"}, `egress` as
 * egress_sessions_renew() has it, result `ok`, `expired` or `revoked`;
 * expires_in_s counts from now and is what a clock of one's own can go by. lease_not_found.
 */
must_check int leases_extend(struct store *s, const char *handle, json_t **ret, struct error *err);

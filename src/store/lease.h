/*
 * Tables lease and lease_grant: what runs hold (disk-and-secrets.md §17). Both are written before a
 * workload starts, and who holds a grant is read from them and from nothing else.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "store/store.h"

enum store_lease_state {
	STORE_LEASE_OPEN,
	STORE_LEASE_RELEASED, /* its run ended */
	STORE_LEASE_EXPIRED,  /* it was not extended any more */
	STORE_LEASE_STATE_COUNT
};
const char *store_lease_state_text(enum store_lease_state state);
/* -1: no such state. */
int store_lease_state_from_text(struct text t);

enum { STORE_LEASES_KEPT = 1024 }; /* that are over */

/* One row; texts live as long as the call that shows it. */
struct store_lease {
	struct text id;  /* lease_… */
	struct text run; /* its handle: a run has one lease */
	struct text project, executor;
	int64_t opened_at, expires_at; /* seconds since 1970 */
	int64_t hard_end;              /* 0 = none */
	struct text boot_id;           /* boot of opened_at, and its boottime */
	int64_t boottime_ms;
	enum store_lease_state state;
};

/* One grant of a lease: what was delivered, for who has to take it back. */
struct store_holding {
	struct text lease, grant, kind;
	struct text files, env_keys; /* JSON lists of names */
	bool taken_back;
};

/* In the transaction of the caller. */
must_check int store_lease_add(struct store *s, const struct store_lease *l, struct error *err);
must_check int store_lease_add_holding(
	struct store *s, const struct store_holding *h, struct error *err);

/* Calls `row` for the lease of this id or (run) of this run: 0, or 1 = there is none. */
must_check int store_lease_show(struct store *s, const char *id,
	void (*row)(void *data, const struct store_lease *l), void *data, struct error *err);
must_check int store_lease_show_run(struct store *s, const char *run,
	void (*row)(void *data, const struct store_lease *l), void *data, struct error *err);
/* Calls `row` for each open one that expires before `until` (0 = all), oldest first. */
must_check int store_lease_list_open(struct store *s, int64_t until,
	void (*row)(void *data, const struct store_lease *l), void *data, struct error *err);
/* Calls `row` for each grant of a lease, in the order it was added. */
must_check int store_lease_holdings(struct store *s, const char *lease,
	void (*row)(void *data, const struct store_holding *h), void *data, struct error *err);

/* Never back: an earlier time than the row has changes nothing. */
must_check int store_lease_extend(struct store *s, const char *lease, int64_t expires_at,
	int64_t hard_end, struct error *err);
/*
 * Ends an open lease: 0, or 1 = it was not open. Of those that are over, the oldest beyond
 * STORE_LEASES_KEPT go.
 */
must_check int store_lease_end(
	struct store *s, const char *lease, enum store_lease_state state, struct error *err);
/* A grant ("": all) of the lease was taken back. */
must_check int store_lease_take_back(
	struct store *s, const char *lease, const char *grant, struct error *err);

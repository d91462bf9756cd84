/*
 * Tables revocation and revocation_run: what was asked to be taken back, and what became of it at
 * each run that holds it (disk-and-secrets.md §18). A revocation is stored before anything is sent,
 * so that whoever comes later can finish it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "store/store.h"

/* One revocation; texts live as long as the call that shows it. */
struct store_revocation {
	int64_t number;    /* from 1 */
	struct text lease; /* empty: every lease that holds the grant */
	struct text grant; /* empty: every grant of the lease */
	struct text action, reason, actor;
	int64_t asked_at;  /* seconds since 1970 */
	struct text state; /* revoke_state words of §18 */
	bool known;        /* somebody held it */
};

/* One run of it. */
struct store_revocation_run {
	int64_t revocation;
	struct text lease, run;
	struct text result; /* pending, done, failed, unreachable */
	struct text effect; /* what the run did: scrub, kill, none; empty = it did not answer */
	struct text message;
};

/*
 * In the transaction of the caller. Adds the revocation as revoke_pending, and a pending run for
 * each open lease that it concerns, whether or not the grant was taken back from it before.
 */
must_check int store_revocation_add(
	struct store *s, const struct store_revocation *r, int64_t *ret_number, struct error *err);
/* A run that holds it and is not on record: it is, from now on. */
must_check int store_revocation_add_run(
	struct store *s, const struct store_revocation_run *r, struct error *err);
/* The last one of a whole grant: 0, or 1 = there is none. */
must_check int store_revocation_of_grant(
	struct store *s, const char *grant, int64_t *ret_number, struct error *err);

/* Calls `row` for one: 0, or 1 = there is none. */
must_check int store_revocation_show(struct store *s, int64_t number,
	void (*row)(void *data, const struct store_revocation *r), void *data, struct error *err);
/* Calls `row` for each that is to be tried again: revoke_pending and unreachable. */
must_check int store_revocation_list_due(struct store *s,
	void (*row)(void *data, const struct store_revocation *r), void *data, struct error *err);
/* Calls `row` for each run of one, in the order it was added. */
must_check int store_revocation_runs(struct store *s, int64_t number,
	void (*row)(void *data, const struct store_revocation_run *r), void *data,
	struct error *err);

/* 0; 1 = it is `done` already, which it stays; -1. */
must_check int store_revocation_set_run(
	struct store *s, const struct store_revocation_run *r, struct error *err);
must_check int store_revocation_set_state(
	struct store *s, int64_t number, const char *state, bool known, struct error *err);

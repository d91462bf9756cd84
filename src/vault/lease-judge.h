/*
 * Which grants a lease gets and how long it lives (disk-and-secrets.md §17). All times in seconds
 * since 1970. Pure; the clock is the caller's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { LEASE_WINDOW = 900 };  /* seconds that a lease lives without being extended */
#define LEASE_NEVER INT64_MAX /* an expiry that never comes */

enum lease_verdict {
	LEASE_GRANTED,
	LEASE_REVOKED,
	LEASE_EXPIRED,
	LEASE_CONSTRAINT, /* its constraint or payload fails */
	LEASE_VERDICT_COUNT
};
/* "ok", "revoked", "expired", "constraint": the answers of an extension, the reasons of a denial */
const char *lease_verdict_text(enum lease_verdict v);
int lease_verdict_from_text(struct text t);

struct lease_grant {
	int64_t expires_at; /* LEASE_NEVER: not by itself */
	bool revoked;
	bool fails; /* its constraint or payload does */
};
enum lease_verdict lease_judge_grant(const struct lease_grant *g, int64_t now);

struct lease_clock {
	int64_t now;
	int64_t window; /* seconds; LEASE_WINDOW */
};
/* Without a granted one both are LEASE_NEVER: there is nothing to hold. */
struct lease_life {
	int64_t expires_at; /* min(now + window, hard_end) */
	int64_t hard_end;   /* the earliest expiry of what was granted */
};
/* Judges n grants: verdicts[i] is that of g[i]. */
void lease_judge(const struct lease_grant *g, size_t n, struct lease_clock clock,
	enum lease_verdict *verdicts, struct lease_life *ret);
/* expires_at of a lease that is extended now: never past the hard end, never back. */
int64_t lease_judge_extended(const struct lease_life *l, struct lease_clock clock);

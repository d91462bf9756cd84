/* What a revocation does to runs, and what becomes of it (disk-and-secrets.md §18). Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum revocation_action { REVOCATION_SCRUB, REVOCATION_KILL, REVOCATION_ACTION_COUNT };
const char *revocation_action_text(enum revocation_action a); /* "scrub", "kill" */
int revocation_action_from_text(struct text t);               /* -1: an unknown word means scrub */

/* What a run got by the grant (or by one of the lease's). */
struct revocation_binding {
	struct text kind; /* of a secret, or `egress` */
	bool has_env;     /* a variable of the run holds a value of the secret */
};
/* Material of this kind can be taken from a running sandbox, if no variable holds it. */
bool revocation_kind_wiped(struct text kind);
/* The action that is sent to the run: kill where material cannot be taken from a running one. */
enum revocation_action revocation_action(
	const struct revocation_binding *b, size_t n, enum revocation_action requested);

/* What became of one run that holds it. */
enum revocation_run {
	REVOCATION_DONE,
	REVOCATION_FAILED,
	REVOCATION_UNREACHABLE,
	REVOCATION_PENDING,
	REVOCATION_RUN_COUNT
};
const char *revocation_run_text(enum revocation_run r); /* "done", … */
int revocation_run_from_text(struct text t);

enum revocation_state {
	REVOCATION_STATE_REVOKED, /* the only final one */
	REVOCATION_STATE_PENDING,
	REVOCATION_STATE_UNREACHABLE,
	REVOCATION_STATE_FAILED,
	REVOCATION_STATE_COUNT
};
/* "revoked", "revoke_pending", "unreachable", "failed" */
const char *revocation_state_text(enum revocation_state s);
int revocation_state_from_text(struct text t);
/* `unrecorded`: runs whose holdings are not on record. Nobody known holds it: n = 0. */
enum revocation_state revocation_state(
	const enum revocation_run *runs, size_t n, size_t unrecorded);

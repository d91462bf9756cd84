/*
 * Payloads of secrets (disk-and-secrets.md §16): the one check that all kinds have, when a secret
 * is minted. What a grant delivers of a payload: the header of its kind. Pure.
 *
 * secret_payload_invalid has the details `line` (from 1; 0 = the whole) and `reason`. No message
 * ever quotes a payload.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"
#include "vault/env-payload.h"
#include "vault/secret-kind.h"

enum { PAYLOAD_MAX = 256 << 10 };

/* How a secret is delivered, given when it is minted; each belongs to one kind. */
struct payload_options {
	struct text name;           /* of the secret */
	struct text env_name;       /* env: p = NULL, derived from the secret's name */
	enum env_format env_format; /* env */
	struct text file_name;      /* file: p = NULL, the secret's name */
	mode_t file_mode;           /* file: 0 = 0600 */
};
/*
 * Not empty, at most PAYLOAD_MAX bytes, and what its kind wants. -1: secret_payload_invalid;
 * secret_name_invalid and secret_mode_invalid for file_name and file_mode.
 */
must_check int payload_check(enum secret_kind kind, const struct payload_options *options,
	struct text payload, struct error *err);

/*
 * Fills err with secret_payload_invalid and its details; the message has the reason's words
 * (payload-reason.h). Returns -1.
 */
int payload_invalid(struct error *err, unsigned line, const char *reason);

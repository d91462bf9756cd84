/*
 * Patterns for the signer's identity (image-trust.md §3.3). cosign evaluates them with RE2,
 * unanchored; nothing here ever matches. What is admitted is a part of RE2's language that every
 * RE2 compiles, and in which one can read whether a pattern is anchored at both ends.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum { REGEXP_MAX_BYTES = 1024 };

enum regexp_fault {
	REGEXP_OK,
	REGEXP_TOO_LONG,
	REGEXP_MALFORMED, /* outside the language; also the empty text */
	REGEXP_NOT_ANCHORED,
	REGEXP_MATCHES_EVERYTHING, /* no literal character stands in it */
};

struct regexp_facts {
	size_t at;  /* REGEXP_MALFORMED: the byte that does not fit */
	bool broad; /* REGEXP_OK: what follows `^` is no literal character */
};

enum regexp_fault regexp_judge(struct text t, struct regexp_facts *ret);

/*
 * What a registry answers with 401: the lines of WWW-Authenticate (image-trust.md §6.3). Pure.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

enum { CHALLENGE_MAX_BYTES = 8192 }; /* of all lines together */

enum challenge_scheme { CHALLENGE_BEARER, CHALLENGE_BASIC, CHALLENGE_SCHEME_COUNT };
const char *challenge_scheme_text(enum challenge_scheme s);

struct challenge {
	enum challenge_scheme scheme;
	/* Of Bearer; as the registry wrote them, any bytes but control characters. */
	char *realm;   /* not empty */
	char *service; /* "" = not given */
};
void challenge_done(struct challenge *c);

/*
 * The challenge to answer: the first Bearer with a realm, otherwise Basic. A line that does not
 * parse, or repeats a parameter within a challenge, is ignored whole. -1: registry_bad_answer.
 */
must_check int challenge_choose(
	const struct text *lines, size_t n, struct challenge *ret, struct error *err);

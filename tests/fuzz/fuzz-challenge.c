/*
 * What is chosen comes from one line and is clean; lines that say nothing change no answer; the
 * same lines give the same answer.
 */
#include <assert.h>
#include <string.h>

#include "image/challenge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES_MAX = 16 };

static void check(const struct challenge *c)
{
	if (c->scheme == CHALLENGE_BASIC) {
		assert(!c->realm && !c->service);
		return;
	}
	assert(c->scheme == CHALLENGE_BEARER && c->realm && *c->realm && c->service);
	for (const char *p = c->realm; *p; p++)
		assert(*p == '\t' || !ascii_control(*p));
	assert(strlen(c->realm) + strlen(c->service) <= CHALLENGE_MAX_BYTES);
}

static bool same(const struct challenge *a, const struct challenge *b)
{
	if (a->scheme != b->scheme || !a->realm != !b->realm)
		return false;
	return !a->realm ||
	       (strcmp(a->realm, b->realm) == 0 && strcmp(a->service, b->service) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(challenge) c = {.realm = NULL};
	AUTO(challenge) again = {.realm = NULL};
	struct text lines[LINES_MAX + 2] = {TEXT("Negotiate")};
	struct text rest = {(const char *)data, size};
	size_t n = 1;

	while (n <= LINES_MAX && text_split(&rest, '\n', &lines[n]))
		n++;
	lines[n] = TEXT("Bearer realm=\"no end");
	int found = challenge_choose(lines + 1, n - 1, &c, &err);
	assert(found == 0 || error_is(&err, ERROR_REGISTRY_BAD_ANSWER));
	if (found == 0)
		check(&c);
	if (size > CHALLENGE_MAX_BYTES - 64)
		return 0;
	int found_again = challenge_choose(lines, n + 1, &again, &err);
	assert(found == found_again);
	if (found == 0)
		assert(same(&c, &again));
	return 0;
}

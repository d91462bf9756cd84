/*
 * Whatever the allowlist lets through is `--flag=value` of a listed flag in one word, does not
 * steer the engine by a label, and is let through by each engine that has the flag. The first byte
 * chooses the engine; the rest are words, each ended by 0xff.
 */
#include <assert.h>
#include <string.h>

#include "executor/container/validate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS_MAX = 40 };

static const char *const allowed[] = {
	"--dns=", "--dns-search=", "--dns-option=", "--ulimit=", "--label=", "--cap-drop=",
	"--hostname=", "--shm-size=", "--stop-timeout=", "--tz=", "--umask="};

static size_t split(struct text rest, struct text words[WORDS_MAX])
{
	size_t n = 0;

	while (n < WORDS_MAX && text_split(&rest, '\xff', &words[n]))
		n++;
	return n;
}

static bool starts_allowed(struct text t)
{
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		if (text_starts(t, allowed[i]) && t.len > strlen(allowed[i]))
			return true;
	return false;
}

static void check_word(struct text t, int engine)
{
	assert(starts_allowed(t));
	assert(t.len <= 1024 && !text_has_control(t) && t.p[t.len - 1] != ' ');
	assert(!text_starts_nocase(t, "--label=cloop.") && !text_is_nocase(t, "--label=cloop"));
	assert(!text_starts_nocase(t, "--label=io.containers."));
	if (text_starts(t, "--tz=") || text_starts(t, "--umask="))
		assert(engine != ENGINE_DOCKER);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	struct text words[WORDS_MAX];

	if (size == 0)
		return 0;
	int engine = data[0] % 3 - 1;
	size_t n = split((struct text){(const char *)data + 1, size - 1}, words);
	if (validate_extra_args(words, n, engine, &err) < 0) {
		assert(err.code != ERROR_NONE && *err.message);
		return 0;
	}
	assert(n <= 32);
	for (size_t i = 0; i < n; i++)
		check_word(words[i], engine);
	/* What passes together passes for an open choice of engine, and in every shorter list. */
	for (size_t k = 0; k <= n; k++) {
		int r = validate_extra_args(words, k, -1, &err);
		assert(r == 0);
	}
	return 0;
}

/*
 * What every function of libcloop answers to NULL (include/cloop/base.h). The calls are made from
 * the headers, by null-calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdalign.h>
#include <string.h>

#include "base/cleanup.h"
#include "cloop/container.h"

struct null_call {
	const char *name;
	bool (*call)(void);
};

static const char *const no_texts[] = {NULL};
static struct cloop_error *err;
static char **list;
static char noted[64];
/* For what must not be looked at. */
static alignas(max_align_t) char bytes[8192];
static void *const something = bytes;

static struct cloop_container_options options;
static struct cloop_spec spec;
static struct cloop_secret_file secret_file;

static bool is_usage(void)
{
	return cloop_error_is(err, CLOOP_ERR_USAGE) && cloop_error_remediation(err)[0];
}

static bool is_empty(const char *text)
{
	return strcmp(text, "") == 0;
}

static bool gives(char *text, const char *expected)
{
	bool good = text && strcmp(text, expected) == 0;

	cloop_string_free(text);
	return good;
}

static bool gives_no_texts(char **texts)
{
	bool good = texts && !texts[0];

	cloop_strings_free(texts);
	return good;
}

static bool gives_failure(struct cloop_revoke_outcome *o)
{
	bool good = o && o->state == CLOOP_REVOKE_FAILED && o->reason[0] && o->ended_ns > 0;

	cloop_revoke_outcome_free(o);
	return good;
}

static bool gives_no_outcomes(struct cloop_revoke_outcome **outcomes)
{
	bool good = outcomes && !outcomes[0];

	cloop_revoke_outcomes_free(outcomes);
	return good;
}

static bool note(int result)
{
	snprintf(noted, sizeof(noted), "%d %s", result, cloop_error_code(err));
	return true;
}

static bool is_noted(int result)
{
	auto_free char *before = strdup(noted);

	return note(result) && strcmp(noted, before) == 0;
}

/* The spec and the options as they are now, with this code or any. */
static bool refuses(const char *code)
{
	static const struct cloop_audit_runtime podman = {.name = CLOOP_RUNTIME_PODMAN};

	if (secret_file.size > 0) {
		spec.secret_files = &secret_file;
		spec.n_secret_files = 1;
	}
	return cloop_container_audit_run_argv(&options, &podman, "/tmp", &spec, &list, err) == -1 &&
	       (code ? cloop_error_is(err, code) : cloop_error_code(err)[0] != '\0');
}

#include "null-calls.h"

static void test_call(void **state)
{
	const struct null_call *c = *state;

	assert_true(c->call());
}

static int fresh(void **state)
{
	static const char *const argv[] = {"true", NULL};

	(void)state;
	err = cloop_error_new();
	cloop_container_options_init(&options);
	options.allow_root_user = true;
	cloop_spec_init(&spec);
	spec.argv = argv;
	spec.lease = "lease_0123456789abcdef01234567";
	secret_file = (struct cloop_secret_file){.name = "key"};
	return 0;
}

static int stale(void **state)
{
	static const char zero[sizeof(bytes)];

	(void)state;
	cloop_error_free(err);
	cloop_strings_free(list);
	list = NULL;
	/* Whoever looked at it would have left something there. */
	return memcmp(bytes, zero, sizeof(zero)) ? -1 : 0;
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(null_calls)];

	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tests[i] = (struct CMUnitTest){.name = null_calls[i].name,
			.test_func = test_call,
			.setup_func = fresh,
			.teardown_func = stale,
			.initial_state = (void *)(uintptr_t)&null_calls[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

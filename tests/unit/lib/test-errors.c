/* Errors and cancels of libcloop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cloop/container.h"
#include "lib/cancel.h"

static void test_an_error_tells_everything(void **state)
{
	struct cloop_error *err = cloop_error_new();

	(void)state;
	assert_string_equal(cloop_error_code(err), "");
	assert_int_equal(cloop_error_http_status(err), 0);
	assert_int_equal(cloop_container_validate_network("host", err), -1);
	assert_true(cloop_error_is(err, "network_host"));
	assert_false(cloop_error_is(err, CLOOP_ERR_RUNTIME_MISSING));
	assert_int_equal(cloop_error_http_status(err), 400);
	assert_true(cloop_error_message(err)[0] != '\0');
	assert_true(cloop_error_remediation(err)[0] != '\0');
	auto_free char *json = cloop_error_json(err);
	assert_non_null(strstr(json, "\"code\":\"network_host\""));
	/* A success leaves nothing of an earlier failure behind. */
	assert_int_equal(cloop_container_validate_network("none", err), 0);
	assert_string_equal(cloop_error_message(err), "");
	cloop_error_free(err);
}

static void test_nobody_needs_to_ask_why(void **state)
{
	(void)state;
	assert_int_equal(cloop_container_validate_network("host", NULL), -1);
	assert_string_equal(cloop_error_code(NULL), "");
	assert_false(cloop_error_is(NULL, "network_host"));
	auto_free char *json = cloop_error_json(NULL);
	assert_string_equal(json, "{}");
	cloop_error_clear(NULL);
	cloop_error_free(NULL);
	cloop_string_free(NULL);
	cloop_strings_free(NULL);
}

static void test_a_trigger_stays(void **state)
{
	struct cloop_cancel *cancel = NULL;

	(void)state;
	assert_int_equal(cloop_cancel_new(-1, &cancel, NULL), 0);
	assert_false(cloop_cancel_is_set(cancel));
	errno = ENOENT;
	cloop_cancel_trigger(cancel);
	cloop_cancel_trigger(cancel);
	assert_int_equal(errno, ENOENT);
	assert_true(cloop_cancel_is_set(cancel));
	assert_true(cloop_cancel_is_set(cancel));
	assert_int_equal(fcntl(cloop_cancel_fd(cancel), F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(lib_cancel_fd(cancel), F_GETFD), FD_CLOEXEC);
	cloop_cancel_free(cancel);
}

static void test_the_fd_is_as_good_as_the_call(void **state)
{
	const uint64_t one = 1;
	struct cloop_cancel *cancel = NULL;

	(void)state;
	assert_int_equal(cloop_cancel_new(-1, &cancel, NULL), 0);
	assert_int_equal(write(cloop_cancel_fd(cancel), &one, sizeof(one)), sizeof(one));
	assert_true(cloop_cancel_is_set(cancel));
	cloop_cancel_free(cancel);
}

static void test_deadlines(void **state)
{
	static const struct {
		int64_t timeout_ms;
		bool wait, set;
	} rows[] = {{0, true, true}, {1, true, true}, {INT64_C(86400000), false, false},
		{-1, false, false}, {INT64_MAX, false, false}, {INT64_MIN, false, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct cloop_cancel *cancel = NULL;
		auto_error struct error err = ERROR_INIT;
		int never[2];
		assert_int_equal(pipe(never), 0);
		assert_int_equal(cloop_cancel_new(rows[i].timeout_ms, &cancel, NULL), 0);
		if (rows[i].wait) {
			assert_int_equal(lib_cancel_wait(cancel, never[0], 1, &err), -1);
			assert_true(error_is(&err, ERROR_CANCELLED));
		}
		assert_int_equal(cloop_cancel_is_set(cancel), rows[i].set);
		cloop_cancel_free(cancel);
		close(never[0]);
		close(never[1]);
	}
	assert_false(cloop_cancel_is_set(NULL));
	cloop_cancel_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_error_tells_everything),
		cmocka_unit_test(test_nobody_needs_to_ask_why),
		cmocka_unit_test(test_a_trigger_stays),
		cmocka_unit_test(test_the_fd_is_as_good_as_the_call),
		cmocka_unit_test(test_deadlines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

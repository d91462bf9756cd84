#include "unit/unit.h"

#include "base/json.h"
#include "executor/null/null.h"
#include "executor/executor-list.h"

static struct executor *null_executor(const char *id)
{
	struct candidate c = {.id = text_of(id), .isolation = TEXT("container"), .stream = true};

	return null_executor_new(&c);
}

static void test_defaults_refuse(void **unused)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(executor) e = null_executor("n");
	AUTO(strv) names = STRV_INIT(4);
	struct executor_start start = {.cancel_fd = -1};
	char handle[EXECUTOR_HANDLE_SIZE];
	json_t *answer = NULL;
	int fd = -1;

	(void)unused;
	assert_done(executor_health_check(e, &err), &err);
	assert_int_equal(executor_start(e, &start, handle, &err), -1);
	assert_int_equal(err.code, ERROR_EXECUTOR_UNSUPPORTED);
	assert_int_equal(executor_signal(e, "/h", "c-1", EXECUTOR_KILL, &err), -1);
	assert_int_equal(executor_stop(e, "/h", "c-1", NULL, &err), -1);
	assert_int_equal(executor_status(e, "/h", "c-1", &answer, &err), -1);
	assert_int_equal(executor_open_log(e, "/h", "c-1", &fd, &err), -1);
	assert_int_equal(executor_attach(e, "/h", "c-1", NULL, &fd, &err), -1);
	assert_int_equal(executor_revoke_lease(e, "/h", "c-1", NULL, &answer, &err), -1);
	assert_int_equal(executor_preflight(e, NULL, &answer, &err), -1);
	assert_int_equal(executor_smoke_test(e, NULL, &answer, &err), -1);
	assert_int_equal(err.code, ERROR_EXECUTOR_UNSUPPORTED);
	assert_done(executor_handles(e, "/h", &names, &err), &err);
	assert_done(executor_reap_orphans(e, "/h", &names, &err), &err);
	assert_int_equal(names.n, 0);
}

static void test_unavailable_keeps_its_reason(void **unused)
{
	auto_error struct error err = ERROR_INIT;
	auto_error struct error reason = ERROR_INIT;
	struct executor_start start = {.cancel_fd = -1};
	char handle[EXECUTOR_HANDLE_SIZE];
	struct candidate c;

	(void)unused;
	error_set(&reason, ERROR_RUNTIME_MISSING, "no engine");
	AUTO_PTR(executor) e = executor_new_unavailable("container", "box", &reason);
	assert_int_equal(executor_unavailable_reason(e)->code, ERROR_RUNTIME_MISSING);
	executor_capabilities(e, &c);
	assert_false(candidate_ready(&c) || candidate_isolates(&c));
	assert_true(text_is(c.kind, "container"));
	assert_int_equal(executor_start(e, &start, handle, &err), -1);
	assert_int_equal(err.code, ERROR_RUNTIME_MISSING);
	assert_non_null(strstr(err.message, "no engine"));
}

static void test_ids_are_unique(void **unused)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(executor_list) r = {0};

	(void)unused;
	assert_done(executor_list_add(&r, null_executor("a"), &err), &err);
	assert_done(executor_list_add(&r, null_executor("b"), &err), &err);
	assert_int_equal(executor_list_add(&r, null_executor("a"), &err), -1);
	assert_int_equal(r.n, 2);
	assert_ptr_equal(executor_list_find(&r, "b", &err), r.items[1]);
	assert_null(executor_list_find(&r, "c", &err));
	assert_int_equal(err.code, ERROR_EXECUTOR_UNKNOWN);
	auto_free struct candidate *list = executor_list_candidates(&r);
	assert_true(text_is(list[1].id, "b") && list[1].stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_refuse),
		cmocka_unit_test(test_unavailable_keeps_its_reason),
		cmocka_unit_test(test_ids_are_unique),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

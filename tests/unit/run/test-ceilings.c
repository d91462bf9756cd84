#include "unit/sys/unit-dir.h"

#include "base/mem.h"
#include "run/binding.h"
#include "run/ceilings.h"
#include "run/forget.h"
#include "store/audit.h"
#include "store/ceiling.h"
#include "store/journal.h"
#include "store/project.h"
#include "store/query.h"
#include "sys/fault.h"

static struct store *store;

static int store_setup(void **state)
{
	auto_error struct error err = ERROR_INIT;

	return dir_setup(state) < 0 || store_open(path, &store, &err) < 0 ? -1 : 0;
}

static int store_teardown(void **state)
{
	fault_arm(NULL);
	store_free(store);
	return dir_teardown(state);
}

static int set(enum ceiling source, enum resource r, uint64_t value, struct error *err)
{
	struct ceilings_change c = {.source = source, .subject = "/p", .actor = "me"};
	struct limits now;

	c.given[r] = true;
	resource_set(&c.limits, r, value);
	return ceilings_change(store, &c, &now, err);
}

static void count_event(void *data, const struct store_journal_row *r)
{
	(void)r;
	++*(int *)data;
}

static void count_row(void *data, const struct store_audit_row *r)
{
	(void)r;
	++*(int *)data;
}

static void assert_rows(int audit, int journal)
{
	auto_error struct error err = ERROR_INIT;
	int events = 0, rows = 0;

	assert_done(store_journal_list(store, "/p", 0, count_event, &events, &err), &err);
	assert_done(store_audit_list(store, 0, count_row, &rows, &err), &err);
	assert_int_equal(events, journal);
	assert_int_equal(rows, audit);
}

static void assert_loaded(uint64_t executor_pids, uint64_t project_memory, uint64_t project_pids)
{
	auto_error struct error err = ERROR_INIT;
	struct ceilings c = {.of = {{7, 7, 7, 7}, {7, 7, 7, 7}, {7, 7, 7, 7}}};

	assert_done(ceilings_load(store, "/p", "/p", &c, &err), &err);
	assert_int_equal(c.of[CEILING_FLEET].pids, 7);
	assert_int_equal(c.of[CEILING_EXECUTOR].pids, executor_pids);
	assert_int_equal(c.of[CEILING_PROJECT].memory_mb, project_memory);
	assert_int_equal(c.of[CEILING_PROJECT].pids, project_pids);
}

static void test_change(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;

	assert_int_equal(set(CEILING_PROJECT, RESOURCE_PIDS, 0, &err), 1);
	assert_rows(0, 0);
	assert_done(set(CEILING_PROJECT, RESOURCE_PIDS, 5, &err), &err);
	assert_done(set(CEILING_PROJECT, RESOURCE_MEMORY, 64, &err), &err);
	assert_int_equal(set(CEILING_PROJECT, RESOURCE_MEMORY, 64, &err), 1);
	assert_rows(2, 2);
	assert_done(set(CEILING_EXECUTOR, RESOURCE_PIDS, 9, &err), &err);
	assert_rows(3, 2);
	assert_loaded(9, 64, 5);
	assert_done(set(CEILING_PROJECT, RESOURCE_PIDS, 0, &err), &err);
	assert_done(set(CEILING_PROJECT, RESOURCE_MEMORY, 0, &err), &err);
	assert_loaded(9, 0, 0);
	assert_rows(5, 4);
}

static void test_no_store(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct ceilings c = {.of = {{7, 7, 7, 7}, {7, 7, 7, 7}, {7, 7, 7, 7}}};

	assert_done(ceilings_load(NULL, "e", "/p", &c, &err), &err);
	assert_int_equal(c.of[CEILING_FLEET].pids, 7);
	assert_int_equal(c.of[CEILING_EXECUTOR].pids, 0);
	assert_int_equal(c.of[CEILING_PROJECT].pids, 0);
}

/* What is broken beside the change refuses it, unless it only takes away. */
static void test_broken(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct ceilings c = {0};

	assert_done(set(CEILING_PROJECT, RESOURCE_PIDS, 5, &err), &err);
	assert_done(
		query_exec(store, "UPDATE ceiling SET memory_mb = 1, cpu_millis = -1", &err), &err);
	assert_done(ceilings_load(store, "/e", "/p", &c, &err), &err);
	assert_int_equal(ceilings_check(&c, "/e", &err), -1);
	assert_int_equal(err.code, ERROR_LIMITS_CONFIGURATION);
	assert_non_null(strstr(err.message, "project ceiling: cpu_millis is -1"));
	error_clear(&err);
	assert_int_equal(set(CEILING_PROJECT, RESOURCE_PIDS, 6, &err), -1);
	error_clear(&err);
	assert_done(set(CEILING_PROJECT, RESOURCE_CPU, 0, &err), &err);
	assert_int_equal(set(CEILING_PROJECT, RESOURCE_PIDS, 6, &err), -1);
	error_clear(&err);
	assert_done(set(CEILING_PROJECT, RESOURCE_MEMORY, 64, &err), &err);
	assert_loaded(0, 64, 5);
}

/* The change and its rows are there together, or none of them. */
static void test_all_or_nothing(void **state)
{
	(void)state;
	uint64_t value = 64;
	int n = 0, failed;

	do {
		auto_error struct error err = ERROR_INIT;
		auto_free char *point = mem_printf("store-write:%d=fail", ++n);
		fault_arm(point);
		failed = set(CEILING_PROJECT, RESOURCE_MEMORY, value, &err);
		fault_arm(NULL);
		assert_loaded(0, failed ? 0 : value, 0);
		assert_rows(!failed, !failed);
	} while (failed && n < 20);
	assert_false(failed);
	assert_true(n > 3);
}

static void is_bound(void *data, const struct store_project *p)
{
	*(bool *)data = p->executor.p != NULL;
}

/* 0: known, with its binding; 1: it is not known. */
static int known(bool *ret_bound)
{
	auto_error struct error err = ERROR_INIT;

	*ret_bound = false;
	return store_project_show(store, "/p", is_bound, ret_bound, &err);
}

/* A project is there with all that binds it, or with nothing. */
static void test_forget(void **state)
{
	(void)state;
	int n = 0, failed;
	bool bound;

	do {
		auto_error struct error err = ERROR_INIT;
		auto_free char *previous = NULL;
		auto_free char *point = mem_printf("store-write:%d=fail", ++n);
		struct binding b = {.project = "/p", .executor = "container", .actor = "me"};
		assert_done(binding_set(store, &b, &previous, &err), &err);
		assert_true(set(CEILING_PROJECT, RESOURCE_PIDS, 5, &err) >= 0);
		fault_arm(point);
		failed = forget_project(store, "/p", "me", &err);
		fault_arm(NULL);
		assert_loaded(0, 0, failed ? 5 : 0);
		assert_int_equal(known(&bound), failed ? 0 : 1);
		assert_int_equal(bound, failed != 0);
		assert_rows(failed ? 2 : 4, failed ? 2 : 0);
	} while (failed && n < 40);
	assert_false(failed);
	assert_true(n > 9);
	auto_error struct error err = ERROR_INIT;
	assert_int_equal(forget_project(store, "/p", "me", &err), 1);
	assert_rows(4, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_change, store_setup, store_teardown),
		cmocka_unit_test_setup_teardown(test_no_store, store_setup, store_teardown),
		cmocka_unit_test_setup_teardown(test_broken, store_setup, store_teardown),
		cmocka_unit_test_setup_teardown(test_all_or_nothing, store_setup, store_teardown),
		cmocka_unit_test_setup_teardown(test_forget, store_setup, store_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

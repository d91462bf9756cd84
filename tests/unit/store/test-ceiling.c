#include "unit/sys/unit-dir.h"

#include "store/ceiling.h"
#include "store/project.h"
#include "store/query.h"

static struct store *store;

static int store_setup(void **state)
{
	auto_error struct error err = ERROR_INIT;

	return dir_setup(state) < 0 || store_open(path, &store, &err) < 0 ? -1 : 0;
}

static int store_teardown(void **state)
{
	store_free(store);
	return dir_teardown(state);
}

static void put(enum ceiling source, const char *subject, struct limits l)
{
	auto_error struct error err = ERROR_INIT;
	struct store_ceiling row = {
		.source = source, .subject = text_of(subject), .limits = l, .set_by = TEXT("me")};

	assert_done(store_ceiling_put(store, &row, &err), &err);
}

static void assert_limits(enum ceiling source, const char *subject, int found, struct limits l)
{
	auto_error struct error err = ERROR_INIT;
	struct limits got = {7, 7, 7, 7};

	assert_int_equal(store_ceiling_get(store, source, subject, &got, &err), found);
	for (enum resource r = 0; r < RESOURCE_COUNT; r++)
		assert_int_equal(resource_get(&got, r), resource_get(&l, r));
}

static void gather(void *data, const struct store_ceiling *c)
{
	str_addf(data, "%s %.*s %.*s|", ceiling_text(c->source), (int)c->subject.len, c->subject.p,
		(int)c->set_by.len, c->set_by.p);
}

static void assert_list(const char *expected)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) got = STR_INIT(10000);

	assert_done(store_ceiling_list(store, gather, &got, &err), &err);
	assert_string_equal(str_text(&got), expected);
}

static void test_put_get_drop(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct limits none = {0}, one = {1, 64, 3, 1 << 20}, two = {.pids = 4};

	assert_limits(CEILING_PROJECT, "/p", 1, none);
	put(CEILING_PROJECT, "/p", one);
	put(CEILING_EXECUTOR, "/p", two);
	put(CEILING_PROJECT, "/a b\n", two);
	assert_limits(CEILING_PROJECT, "/p", 0, one);
	assert_limits(CEILING_EXECUTOR, "/p", 0, two);
	assert_list("executor /p me|project /a b\n me|project /p me|");
	put(CEILING_PROJECT, "/p", two);
	assert_limits(CEILING_PROJECT, "/p", 0, two);
	assert_done(store_ceiling_drop(store, CEILING_PROJECT, "/p", &err), &err);
	assert_done(store_ceiling_drop(store, CEILING_PROJECT, "/p", &err), &err);
	assert_limits(CEILING_PROJECT, "/p", 1, none);
	assert_limits(CEILING_EXECUTOR, "/p", 0, two);
}

/* Whatever stands there is given, for the judge; no amount is taken for another. */
static void test_what_stands_there(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct limits l;

	put(CEILING_PROJECT, "/p", (struct limits){.memory_mb = 64});
	assert_done(
		query_exec(store, "UPDATE ceiling SET memory_mb = -64, pids = 99999", &err), &err);
	assert_done(store_ceiling_get(store, CEILING_PROJECT, "/p", &l, &err), &err);
	assert_int_equal(l.memory_mb, (uint64_t)-64);
	assert_int_equal(l.pids, 99999);
	assert_int_equal(ceiling_check(&l, "project ceiling", &err), -1);
	assert_non_null(strstr(err.message, "memory_mb is -64"));
	error_clear(&err);
	assert_int_equal(query_exec(store, "UPDATE ceiling SET source = 'fleet'", &err), -1);
	error_clear(&err);
	assert_int_equal(query_exec(store, "UPDATE ceiling SET pids = 'many'", &err), -1);
	error_clear(&err);
	assert_int_equal(query_exec(store, "UPDATE ceiling SET pids = NULL", &err), -1);
}

static void test_forgotten_with_its_project(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;

	put(CEILING_PROJECT, "/p", (struct limits){.pids = 1});
	put(CEILING_PROJECT, "/q", (struct limits){.pids = 1});
	put(CEILING_EXECUTOR, "/p", (struct limits){.pids = 1});
	assert_done(store_project_forget(store, "/p", &err), &err);
	assert_list("executor /p me|project /q me|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_put_get_drop, store_setup, store_teardown),
		cmocka_unit_test_setup_teardown(
			test_what_stands_there, store_setup, store_teardown),
		cmocka_unit_test_setup_teardown(
			test_forgotten_with_its_project, store_setup, store_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit/sys/unit-dir.h"

#include "base/mem.h"
#include "store/journal.h"
#include "store/query.h"
#include "store/run.h"

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

static void add(const char *project, const char *run, const char *message)
{
	auto_error struct error err = ERROR_INIT;
	struct store_event event = {project, "kind", run, 0, message, 0};

	assert_done(store_journal_add(store, &event, &err), &err);
}

static void gather(void *data, const struct store_journal_row *r)
{
	str_addf(data, "%.*s|", (int)r->message.len, r->message.p);
}

static void assert_journal(const char *project, int64_t limit, const char *expected)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) got = STR_INIT(10000);

	assert_done(store_journal_list(store, project, limit, gather, &got, &err), &err);
	assert_string_equal(str_text(&got), expected);
}

static void test_once_for_a_run(void **state)
{
	(void)state;

	add("/p", "c-1", "a");
	add("/p", "c-1", "b");
	add("/p", "c-1", "a");
	add("/p", "c-2", "a");
	add("/p", NULL, "a");
	add("/p", NULL, "a");
	add("/q", NULL, "x");
	assert_journal("/p", 0, "a|b|a|a|a|");
	assert_journal("/p", 2, "a|a|");
	assert_journal("/q", 0, "x|");
	assert_journal("/r", 0, "");
}

static void test_scrubbed_and_cut(void **state)
{
	(void)state;
	auto_free char *big = mem_alloc(100000);

	add("/p", NULL, "\x1b[2J\a\n\xc2\x9b\xff");
	assert_journal("/p", 0, "\\x1b[2J\\x07\\x0a\\xc2\\x9b\\xff|");
	memset(big, 'x', 99999);
	add("/q", NULL, big);
	big[STORE_JOURNAL_MESSAGE_MAX] = '|';
	big[STORE_JOURNAL_MESSAGE_MAX + 1] = '\0';
	assert_journal("/q", 0, big);
}

static void test_shortened(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(query) q = QUERY_INIT;

	assert_done(query_exec(store,
			    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
			    "i < 10100) INSERT INTO journal (project, time, kind, message) "
			    "SELECT '/p', '', 'k', i FROM n",
			    &err),
		&err);
	add("/q", NULL, "kept");
	for (int i = 0; i < 64; i++)
		add("/p", NULL, "new");
	assert_done(
		query_prepare(store,
			"SELECT count(*), min(number) FROM journal WHERE project = '/p'", &q, &err),
		&err);
	assert_int_equal(query_step(&q, &err), 1);
	assert_in_range(query_int(&q, 0), STORE_JOURNAL_ROWS, STORE_JOURNAL_ROWS + 64);
	assert_true(query_int(&q, 1) > 100);
	assert_journal("/q", 0, "kept|");
}

static void compare(void *data, const struct store_run *r)
{
	const struct store_run *e = data;

	assert_true(text_equal(r->handle, e->handle) && text_equal(r->project, e->project));
	assert_true(
		text_equal(r->outcome, e->outcome) && text_equal(r->finished_at, e->finished_at));
	assert_true(!r->title.p && !r->image.p && r->reproducible);
	assert_true(r->exit_code == 3 && r->signal == -1 && r->cli_exit == 0 && r->task == 9);
	assert_true(r->wall_ms == 12 && r->disk_used_mb == -1 && r->disk_limit_mb == 64);
}

static void test_run_row(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct store_run run = {
		.handle = TEXT("c-1"),
		.project = TEXT("/p"),
		.state = TEXT("exited"),
		.outcome = TEXT("nonzero"),
		.finished_at = TEXT("then"),
		.exit_code = 3,
		.signal = -1,
		.wall_ms = 12,
		.disk_used_mb = -1,
		.disk_limit_mb = 64,
		.task = 9,
		.reproducible = true,
	};

	assert_int_equal(store_run_add(store, &run, &err), 0);
	assert_int_equal(store_run_show(store, "c-1", compare, &run, &err), 0);
	struct store_run again = {.handle = TEXT("c-1"),
		.project = TEXT("/q"),
		.state = TEXT("failed"),
		.outcome = TEXT("lost")};
	assert_int_equal(store_run_add(store, &again, &err), 1);
	assert_int_equal(store_run_show(store, "c-1", compare, &run, &err), 0);
	assert_int_equal(store_run_show(store, "c-2", compare, &run, &err), 1);
	again.handle = TEXT("c-3");
	again.state = TEXT("running");
	assert_int_equal(store_run_add(store, &again, &err), -1);
}

#define IN_STORE(f) cmocka_unit_test_setup_teardown(f, store_setup, store_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_STORE(test_once_for_a_run),
		IN_STORE(test_scrubbed_and_cut),
		IN_STORE(test_shortened),
		IN_STORE(test_run_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit/sys/unit-dir.h"

#include <sys/wait.h>

#include "base/json.h"
#include "store/audit.h"
#include "store/query.h"

static int append(const char *text, struct error *err)
{
	AUTO_PTR(store) s = NULL;
	auto_json *payload = json_pack("{s:o}", "image", json_from_string(text));
	struct store_audit_event event = {"a.b", "project", "system", payload};

	return store_open(path, &s, err) < 0 ? -1 : store_audit_append(s, &event, err);
}

static void verify(int64_t rows, int64_t bad_seq)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	struct store_audit_check check;

	assert_done(store_open(path, &s, &err), &err);
	assert_done(store_audit_verify(s, &check, &err), &err);
	assert_int_equal(check.bad_seq, bad_seq);
	assert_int_equal(check.rows, rows);
	assert_int_equal(check.why == NULL, bad_seq == 0);
}

static void execute(const char *sql)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;

	assert_done(store_open(path, &s, &err), &err);
	assert_done(query_exec(s, sql, &err), &err);
}

static void keep_seq(void *data, const struct store_audit_row *r)
{
	int64_t *seen = data;

	seen[seen[0]++ + 1] = r->seq;
}

static void test_list(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	int64_t seen[8] = {0};

	verify(0, 0);
	for (int i = 0; i < 4; i++)
		assert_done(append("x", &err), &err);
	verify(4, 0);
	assert_done(store_open(path, &s, &err), &err);
	assert_done(store_audit_list(s, 2, keep_seq, seen, &err), &err);
	assert_memory_equal(seen, ((int64_t[]){2, 3, 4}), 3 * sizeof(*seen));
}

/* Each kind of change shows, and later rows do not cover it. */
static void test_changes_show(void **state)
{
	(void)state;
	static const struct {
		const char *sql;
		int64_t rows, bad_seq;
	} changes[] = {
		{"UPDATE audit SET payload = '{}' WHERE seq = 2", 4, 2},
		{"UPDATE audit SET time = '' WHERE seq = 4", 4, 4},
		{"DELETE FROM audit WHERE seq = 1", 3, 1},
		{"DELETE FROM audit WHERE seq = 3", 3, 3},
		{"DELETE FROM audit WHERE seq = 4", 3, 4},
		{"UPDATE audit SET hash = 'a' WHERE seq = 2", 4, 2},
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		auto_error struct error err = ERROR_INIT;
		for (int row = 0; row < 4; row++)
			assert_done(append("x", &err), &err);
		execute(changes[i].sql);
		verify(changes[i].rows, changes[i].bad_seq);
		assert_done(append("later", &err), &err);
		verify(changes[i].rows + 1, changes[i].bad_seq);
		execute("DELETE FROM audit; DELETE FROM sqlite_sequence");
	}
}

static void test_side_by_side(void **state)
{
	(void)state;
	enum { PROCESSES = 6, ROWS = 5 };
	int status;

	for (int i = 0; i < PROCESSES; i++) {
		if (fork() != 0)
			continue;
		auto_error struct error err = ERROR_INIT;
		for (int row = 0; row < ROWS; row++)
			if (append("side by side", &err) < 0)
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < PROCESSES; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	verify((int64_t)PROCESSES * ROWS, 0);
}

/* Whoever writes is not in the way of the check, so the check is in nobody's way either. */
static void test_verify_takes_no_lock(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) writer = NULL;
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;

	assert_done(append("x", &err), &err);
	assert_done(store_open(path, &writer, &err), &err);
	assert_done(query_begin(writer, &t, &err), &err);
	assert_done(query_exec(writer, "DELETE FROM audit", &err), &err);
	verify(1, 0);
	assert_done(query_commit(&t, &err), &err);
	verify(0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_list),
		IN_DIR(test_changes_show),
		IN_DIR(test_side_by_side),
		IN_DIR(test_verify_takes_no_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

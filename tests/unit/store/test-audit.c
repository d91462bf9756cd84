#include "unit/sys/unit-dir.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/mem.h"
#include "store/audit.h"
#include "store/query.h"
#include "sys/clock.h"

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
		execute("DELETE FROM audit; DELETE FROM sqlite_sequence WHERE name = 'audit'");
		assert_int_equal(unlinkat(dir, "audit-head", 0), 0);
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

enum { MANY = 10000 };

static void append_many(void)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	auto_json *payload = json_pack("{s:s}", "project", "/srv/app");
	const struct store_audit_event event = {"a.b", "project", "system", payload};

	assert_done(store_open(path, &s, &err), &err);
	assert_done(query_begin(s, &t, &err), &err);
	for (int i = 0; i < MANY; i++)
		assert_done(store_audit_add(s, &event, &err), &err);
	assert_done(query_commit(&t, &err), &err);
}

/* Whatever is done to any column of any row shows, at the row where it was done. */
static void test_ten_thousand(void **state)
{
	(void)state;
	static const char *const columns[] = {
		"time", "action", "entity", "actor", "payload", "previous", "hash"};
	static const int places[] = {1, MANY / 2, MANY};
	static const struct {
		const char *sql;
		int64_t rows, bad_seq;
	} changes[] = {
		{"DELETE FROM audit WHERE seq = 1", MANY - 1, 1},
		{"DELETE FROM audit WHERE seq BETWEEN 500 AND 600", MANY - 101, 500},
		{"DELETE FROM audit WHERE seq > 9990", MANY - 10, 9991},
		{"DELETE FROM audit", 0, 1},
		/* two rows change places */
		{"UPDATE audit SET seq = -1 WHERE seq = 700; UPDATE audit SET seq = 700 "
		 "WHERE seq = 701; UPDATE audit SET seq = 701 WHERE seq = -1",
			MANY, 700},
		/* a number is taken from the middle, and the rest moves up */
		{"DELETE FROM audit WHERE seq = 100; UPDATE audit SET seq = seq - 20000 "
		 "WHERE seq > 100; UPDATE audit SET seq = seq + 19999 WHERE seq < 0",
			MANY - 1, 100},
		/* a copy of an old row at the end */
		{"INSERT INTO audit SELECT 10001, time, action, entity, actor, payload, "
		 "(SELECT hash FROM audit WHERE seq = 10000), 'x' || substr(hash, 2) FROM audit "
		 "WHERE seq = 5",
			MANY + 1, MANY + 1},
		{"UPDATE audit SET seq = 0 WHERE seq = 1", MANY, 1},
		{"UPDATE audit SET seq = 20000 WHERE seq = 10000", MANY, MANY},
	};

	append_many();
	verify(MANY, 0);
	execute("CREATE TABLE kept AS SELECT * FROM audit");
	for (size_t i = 0; i < ARRAY_SIZE(columns) * ARRAY_SIZE(places); i++) {
		int seq = places[i % ARRAY_SIZE(places)];
		auto_free char *sql = mem_printf(
			"UPDATE audit SET %s = 'x' || substr(%s, 2) WHERE seq = %d",
			columns[i / ARRAY_SIZE(places)], columns[i / ARRAY_SIZE(places)], seq);
		execute(sql);
		verify(MANY, seq);
		auto_free char *undo =
			mem_printf("REPLACE INTO audit SELECT * FROM kept WHERE seq = %d", seq);
		execute(undo);
	}
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		execute(changes[i].sql);
		verify(changes[i].rows, changes[i].bad_seq);
		execute("DELETE FROM audit; INSERT INTO audit SELECT * FROM kept; "
			"UPDATE sqlite_sequence SET seq = 10000 WHERE name = 'audit'");
	}
	verify(MANY, 0);
}

/* Rows that are gone with all that the database knows of them, or an older copy of it. */
static void test_note_outside(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	static const char forget[] =
		"DELETE FROM audit WHERE seq > 2; UPDATE sqlite_sequence SET seq = 2";

	for (int row = 0; row < 4; row++)
		assert_done(append("x", &err), &err);
	execute(forget);
	verify(2, 3);
	/* Later rows do not cover it, neither before nor behind the number that is noted. */
	for (int64_t rows = 3; rows < 8; rows++) {
		assert_done(append("later", &err), &err);
		verify(rows, rows < 4 ? rows + 1 : 4);
	}
	/* Without the note, and with one that is spoilt, nothing says so. */
	auto_fd int fd = openat(dir, "audit-head", O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_int_equal(write(fd, "0000000000000000009 no hash\n", 28), 28);
	verify(7, 0);
	assert_done(append("later", &err), &err);
	execute("DELETE FROM audit WHERE seq > 7; UPDATE sqlite_sequence SET seq = 7");
	verify(7, 8);
}

static void test_rolled_back(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	auto_json *payload = json_object();
	const struct store_audit_event event = {"a.b", "project", "system", payload};

	assert_done(append("x", &err), &err);
	assert_done(store_open(path, &s, &err), &err);
	for (int i = 0; i < 2; i++) {
		AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
		assert_done(query_begin(s, &t, &err), &err);
		assert_done(store_audit_add(s, &event, &err), &err);
	}
	verify(1, 0);
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	assert_done(query_begin(s, &t, &err), &err);
	assert_done(query_commit(&t, &err), &err);
	verify(1, 0);
}

static void keep_payload(void *data, const struct store_audit_row *r)
{
	text_escape(data, r->payload, r->payload.len);
}

static void test_scrubbed(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	AUTO(str) seen = STR_INIT(16384);
	auto_free char *text = mem_alloc(5001);
	memset(text, 'a', 5000);
	auto_json *payload = json_pack("{s:s, s:[s, {s:s}], s:i, s:s, s:n}", "reason",
		"it had password=hunter2", "list", "https://u:p@h/", "token", "token: abc", "n", 7,
		"project", "/srv/token=1", "none");
	json_object_set_new(payload, "long", json_string(text));
	const struct store_audit_event event = {"a.b", "project", "system", payload};

	assert_done(store_open(path, &s, &err), &err);
	assert_done(store_audit_append(s, &event, &err), &err);
	assert_done(store_audit_list(s, 0, keep_payload, &seen, &err), &err);
	const char want[] = "{\"reason\":\"it had password=[redacted]\",\"list\":"
			    "[\"https://[redacted]@h/\",{\"token\":\"token: [redacted]\"}],"
			    "\"n\":7,\"project\":\"/srv/token=1\",\"none\":null,\"long\":\"aaaa";
	assert_memory_equal(seen.data, want, sizeof(want) - 1);
	assert_true(seen.len < sizeof(want) + 1100);
	verify(1, 0);
}

/* The clock goes back a day: the order is that of the numbers, and nothing is wrong. */
int64_t __real_clock_realtime_ns(void);
int64_t __wrap_clock_realtime_ns(void);
static int64_t shift_ns;

int64_t __wrap_clock_realtime_ns(void)
{
	return __real_clock_realtime_ns() + shift_ns;
}

static void test_clock_set_back(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	AUTO(query) q = QUERY_INIT;
	int64_t seen[8] = {0};

	assert_done(append("before", &err), &err);
	shift_ns = -(int64_t)24 * 3600 * 1000000000;
	assert_done(append("after", &err), &err);
	shift_ns = 0;
	verify(2, 0);
	assert_done(store_open(path, &s, &err), &err);
	assert_done(store_audit_list(s, 0, keep_seq, seen, &err), &err);
	assert_memory_equal(seen, ((int64_t[]){2, 1, 2}), 3 * sizeof(*seen));
	assert_done(query_prepare(s,
			    "SELECT count(*) FROM audit a, audit b WHERE a.seq = 1 AND "
			    "b.seq = 2 AND b.time < a.time",
			    &q, &err),
		&err);
	assert_int_equal(query_step(&q, &err), 1);
	assert_int_equal(query_int(&q, 0), 1);
}

/* Writers that are killed at any moment leave whole rows, and no writer in the way. */
static void test_killed_writers(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct store_audit_check check;

	for (int i = 0; i < 40; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			auto_error struct error ignored = ERROR_INIT;
			while (append("until killed", &ignored) == 0)
				;
			_exit(1);
		}
		usleep((useconds_t)(1000 + i * 700));
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		AUTO_PTR(store) s = NULL;
		assert_done(store_open(path, &s, &err), &err);
		assert_done(store_audit_verify(s, &check, &err), &err);
		assert_int_equal(check.bad_seq, 0);
		assert_done(append("between", &err), &err);
	}
	assert_true(check.rows > 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_list),
		IN_DIR(test_changes_show),
		IN_DIR(test_side_by_side),
		IN_DIR(test_verify_takes_no_lock),
		IN_DIR(test_ten_thousand),
		IN_DIR(test_note_outside),
		IN_DIR(test_rolled_back),
		IN_DIR(test_scrubbed),
		IN_DIR(test_clock_set_back),
		IN_DIR(test_killed_writers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

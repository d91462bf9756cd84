#include "unit/sys/unit-dir.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "store/migrations.h"
#include "store/query.h"
#include "sys/fault.h"
#include "sys/lockfile.h"

#define INSERT "INSERT INTO project (path, first_seen) VALUES (?, '')"

static int insert(struct store *s, const char *project, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, INSERT, &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(project));
	return query_run(&q, err);
}

static int64_t number(struct store *s, const char *sql)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(query) q = QUERY_INIT;

	assert_done(query_prepare(s, sql, &q, &err), &err);
	assert_int_equal(query_step(&q, &err), 1);
	return query_int(&q, 0);
}

/* The file by name, with the bytes of a string at its beginning. */
static void spoil(const char *name, off_t where, const char *bytes)
{
	auto_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(pwrite(fd, bytes, strlen(bytes), where), (ssize_t)strlen(bytes));
}

static void refuses(enum error_code code)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	struct stat before, after;

	fstatat(dir, "state.db", &before, AT_SYMLINK_NOFOLLOW);
	assert_int_equal(store_open(path, &s, &err), -1);
	assert_string_equal(error_code_text(err.code), error_code_text(code));
	assert_non_null(strstr(err.message, "state.db"));
	assert_null(s);
	fstatat(dir, "state.db", &after, AT_SYMLINK_NOFOLLOW);
	assert_int_equal(before.st_size, after.st_size);
	assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim));
}

static void test_open(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	AUTO_PTR(store) again = NULL;
	struct stat st;

	assert_int_equal(store_open_existing(path, &s, &err), 1);
	assert_int_equal(faccessat(dir, "state.db", F_OK, 0), -1);
	assert_done(store_open(path, &s, &err), &err);
	assert_int_equal(number(s, "PRAGMA user_version"), migrations_count);
	assert_int_equal(number(s, "PRAGMA foreign_keys"), 1);
	assert_int_equal(number(s, "SELECT count(*) FROM pragma_journal_mode "
				   "WHERE journal_mode = 'wal'"),
		1);
	assert_int_equal(
		number(s, "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND "
			  "name NOT LIKE 'sqlite_%' AND strict = 0"),
		0);
	assert_done(insert(s, "/a", &err), &err);
	assert_done(store_open_existing(path, &again, &err), &err);
	assert_int_equal(number(again, "SELECT count(*) FROM project"), 1);
	for (const char *const *name =
			(const char *const[]){"state.db", "state.db-wal", "state.db-shm", NULL};
		*name; name++) {
		assert_int_equal(fstatat(dir, *name, &st, 0), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
	}
}

/* From every version there ever was, without losing what is in it. */
static void test_migrate_from_each(void **state)
{
	(void)state;

	for (size_t from = 1; from < migrations_count; from++) {
		auto_error struct error err = ERROR_INIT;
		AUTO_PTR(store) s = NULL;
		sqlite3 *db;

		unlinkat(dir, "state.db", 0);
		auto_free char *file = mem_printf("%s/state.db", path);
		assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
		for (size_t i = 0; i < from; i++)
			assert_int_equal(sqlite3_exec(db, migrations[i], NULL, NULL, NULL), 0);
		auto_free char *version =
			mem_printf("PRAGMA application_id = 1668050800; PRAGMA user_version = %zu; "
				   "INSERT INTO project (path, first_seen) VALUES ('/a', '')",
				from);
		assert_int_equal(sqlite3_exec(db, version, NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		assert_done(store_open(path, &s, &err), &err);
		assert_int_equal(number(s, "PRAGMA user_version"), migrations_count);
		assert_int_equal(number(s, "SELECT count(*) FROM project"), 1);
	}
}

static void make(const char *last_words)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;

	assert_done(store_open(path, &s, &err), &err);
	assert_done(query_exec(s, last_words, &err), &err);
	assert_done(query_exec(s, "PRAGMA journal_mode = DELETE", &err), &err);
}

static void test_newer(void **state)
{
	(void)state;
	make("PRAGMA user_version = 1000");
	refuses(ERROR_STORE_NEWER);
}

static void test_foreign(void **state)
{
	(void)state;
	make("PRAGMA application_id = 7");
	refuses(ERROR_STORE_CORRUPT);
}

static void test_without_version(void **state)
{
	(void)state;
	make("PRAGMA user_version = 0");
	refuses(ERROR_STORE_CORRUPT);
}

static void test_not_a_database(void **state)
{
	(void)state;
	spoil("state.db", 0, "this was never a database, whatever its name says");
	refuses(ERROR_STORE_CORRUPT);
}

static void test_damaged_page(void **state)
{
	(void)state;
	make("SELECT 1");
	spoil("state.db", 100, "\xff\xff\xff\xff\xff\xff\xff\xff");
	refuses(ERROR_STORE_CORRUPT);
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;

	assert_int_equal(store_open(path, &s, &err), -1);
	assert_non_null(strstr(error_remedy(&err), ".recover"));
}

static void test_truncated(void **state)
{
	(void)state;
	spoil("state.db", 0, "");
	spoil("state.db-wal", 0, "what can be saved");
	refuses(ERROR_STORE_CORRUPT);
	assert_int_equal(faccessat(dir, "state.db-wal", F_OK, 0), 0);
}

static void test_unsafe_file(void **state)
{
	(void)state;
	struct stat st;

	make("SELECT 1");
	assert_int_equal(fchmodat(dir, "state.db", 0622, 0), 0);
	refuses(ERROR_STORE_FAILED);
	assert_int_equal(fchmodat(dir, "state.db", 0644, 0), 0);
	make("SELECT 1");
	assert_true(fstatat(dir, "state.db", &st, 0) == 0 && (st.st_mode & 0777) == 0600);
	renameat(dir, "state.db", dir, "elsewhere");
	assert_int_equal(symlinkat("elsewhere", dir, "state.db"), 0);
	refuses(ERROR_STORE_FAILED);
}

/* What had been set up is not begun anew when its bytes are gone; what was moved away is. */
static void test_emptied(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;

	assert_done(store_open(path, &s, &err), &err);
	store_free(TAKE_PTR(s));
	auto_fd int fd = openat(dir, "state.db", O_WRONLY | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, 0), 0);
	refuses(ERROR_STORE_CORRUPT);
	refuses(ERROR_STORE_CORRUPT);
	assert_int_equal(renameat(dir, "state.db", dir, "elsewhere"), 0);
	assert_done(store_open(path, &s, &err), &err);
	assert_done(insert(s, "/a", &err), &err);
}

/* A disk that is full at the n-th write: the error says so, and the next try succeeds. */
static void test_full_disk(void **state)
{
	(void)state;
	unsigned n = 1;

	for (bool met = true; met; n++) {
		auto_error struct error err = ERROR_INIT;
		AUTO_PTR(store) s = NULL;
		AUTO_PTR(store) again = NULL;
		auto_free char *point = mem_printf("store-exec:%u", n);

		fault_arm(point);
		int r = store_open(path, &s, &err);
		met = !fault_armed();
		fault_arm(NULL);
		assert_int_equal(r, met ? -1 : 0);
		assert_int_equal(err.code, met ? ERROR_NO_SPACE : ERROR_NONE);
		error_clear(&err);
		assert_done(store_open(path, &again, &err), &err);
		store_free(TAKE_PTR(s));
		store_free(TAKE_PTR(again));
		for (const char *const *name = (const char *const[]){"", "-wal", "-shm", NULL};
			*name && met; name++) {
			auto_free char *file = mem_printf("state.db%s", *name);
			unlinkat(dir, file, 0);
		}
	}
	assert_true(n > 4);
}

static void test_full_disk_later(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;

	assert_done(store_open(path, &s, &err), &err);
	auto_free char *pages =
		mem_printf("PRAGMA max_page_count = %d", (int)number(s, "PRAGMA page_count"));
	assert_done(query_exec(s, pages, &err), &err);
	auto_free char *large = mem_alloc(100001);
	memset(large, 'a', 100000);
	assert_int_equal(insert(s, large, &err), -1);
	assert_int_equal(err.code, ERROR_NO_SPACE);
	error_clear(&err);
	assert_done(insert(s, "/small", &err), &err);
}

static void test_rollback(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;

	assert_done(store_open(path, &s, &err), &err);
	{
		AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
		assert_done(query_begin(s, &t, &err), &err);
		assert_done(insert(s, "/a", &err), &err);
	}
	assert_int_equal(number(s, "SELECT count(*) FROM project"), 0);
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	assert_done(query_begin(s, &t, &err), &err);
	assert_done(insert(s, "/a", &err), &err);
	assert_done(query_commit(&t, &err), &err);
	assert_int_equal(number(s, "SELECT count(*) FROM project"), 1);
	assert_int_equal(insert(s, "/a", &err), -1);
	assert_int_equal(err.code, ERROR_STORE_FAILED);
}

enum { PROCESSES = 8, ROWS = 5 };

/* Waits until the test closes the other end, so that all of them begin at once. */
static int work(int which, int rows, int start)
{
	char ignored;

	if (read(start, &ignored, 1) != 0)
		return 1;
	for (int i = 0; i < rows; i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO_PTR(store) s = NULL;
		auto_free char *project = mem_printf("/%d/%d", which, i);

		if (store_open(path, &s, &err) < 0 || insert(s, project, &err) < 0) {
			fprintf(stderr, "# %s\n", err.message);
			return 1;
		}
	}
	return 0;
}

static void fork_workers(int rows, int start[2])
{
	assert_int_equal(pipe(start), 0);
	for (int i = 0; i < PROCESSES; i++)
		if (fork() == 0) {
			close(start[1]);
			_exit(work(i, rows, start[0]));
		}
	close(start[0]);
}

static void wait_for_workers(void)
{
	int status;

	for (int i = 0; i < PROCESSES; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
}

static void many_processes(int rows)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	int start[2];

	fork_workers(rows, start);
	close(start[1]);
	wait_for_workers();
	assert_done(store_open(path, &s, &err), &err);
	assert_int_equal(number(s, "SELECT count(*) FROM project"), PROCESSES * rows);
}

/* All of them make the file, and each opens and closes it again while others write. */
static void test_many_processes(void **state)
{
	(void)state;
	many_processes(ROWS);
}

/* What is new for all of them is nobody's foreign file, however their steps fall. */
static void test_new_file_often(void **state)
{
	(void)state;
	enum { ROUNDS = 25 };

	for (int i = 0; i < ROUNDS; i++) {
		many_processes(1);
		for (const char *const *name = (const char *const[]){"", "-wal", "-shm", NULL};
			*name; name++) {
			auto_free char *file = mem_printf("state.db%s", *name);
			unlinkat(dir, file, 0);
		}
	}
}

/* Tables before the version, as a look that another opener overtakes sees it. */
static void test_judged_under_lock(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	auto_fd int lock = -1;
	auto_free char *file = mem_printf("%s/state.db", path);
	sqlite3 *db;
	int start[2];

	fork_workers(1, start); /* before the lock, which they would inherit */
	assert_done(lockfile_try(dir, "state-setup-0", &lock, &err), &err);
	spoil("state.db", 0, "");
	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL), 0);
	for (size_t i = 0; i < migrations_count; i++)
		assert_int_equal(sqlite3_exec(db, migrations[i], NULL, NULL, NULL), SQLITE_OK);
	close(start[1]);
	usleep(100000); /* they look; too short a time only makes the test prove less */
	auto_free char *version = mem_printf(
		"PRAGMA application_id = 1668050800; PRAGMA user_version = %zu", migrations_count);
	assert_int_equal(sqlite3_exec(db, version, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	close(TAKE_FD(lock));
	wait_for_workers();
}

static void test_busy(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	AUTO_PTR(store) other = NULL;
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;

	assert_done(store_open(path, &s, &err), &err);
	assert_done(store_open(path, &other, &err), &err);
	sqlite3_busy_timeout(store_db(other), 10);
	assert_done(query_begin(s, &t, &err), &err);
	assert_int_equal(insert(other, "/a", &err), -1);
	assert_int_equal(err.code, ERROR_STORE_BUSY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_open),
		IN_DIR(test_migrate_from_each),
		IN_DIR(test_newer),
		IN_DIR(test_foreign),
		IN_DIR(test_without_version),
		IN_DIR(test_not_a_database),
		IN_DIR(test_damaged_page),
		IN_DIR(test_truncated),
		IN_DIR(test_unsafe_file),
		IN_DIR(test_emptied),
		IN_DIR(test_full_disk),
		IN_DIR(test_full_disk_later),
		IN_DIR(test_rollback),
		IN_DIR(test_many_processes),
		IN_DIR(test_new_file_often),
		IN_DIR(test_judged_under_lock),
		IN_DIR(test_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

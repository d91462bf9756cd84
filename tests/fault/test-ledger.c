/*
 * A disk that fails under state.db: each of the calls by which SQLite reads, writes, syncs and
 * opens files fails, in everything that is done to the ledger. What must hold each time: an error
 * that says so, or the work is done; the database is sound, the audit trail whole; what was to be
 * done is done wholly or not at all; and the same works once the disk does.
 */
#include "fault/broken-vfs.h"
#include "unit/unit.h"

#include <dirent.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "store/audit.h"
#include "store/migrations.h"
#include "store/project.h"
#include "store/query.h"
#include "store/secret.h"
#include "sys/file.h"
#include "vault/rekey.h"
#include "vault/vault.h"

#define PAYLOAD "canary-5b1c-value"

enum { CALLS_MAX = 1000, FILE_BYTES_MAX = 4 << 20 };

/* On tmpfs where there is one: nothing here is about how long a sync takes. */
static char place[64], home[80], template[80];

static struct store *open_store(void)
{
	auto_error struct error err = ERROR_INIT;
	struct store *s = NULL;

	assert_done(store_open(home, &s, &err), &err);
	return s;
}

static int64_t number(struct store *s, const char *sql)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(query) q = QUERY_INIT;

	assert_done(query_prepare(s, sql, &q, &err), &err);
	assert_int_equal(query_step(&q, &err), 1);
	return query_int(&q, 0);
}

static int mint(const char *name, struct error *err)
{
	AUTO_PTR(store) s = NULL;
	AUTO(store_secret) row = STORE_SECRET_INIT;
	char id[VAULT_SECRET_ID_SIZE];

	mem_set_string(&row.name, name);
	mem_set_string(&row.kind, "file");
	mem_set_string(&row.created_by, "tester");
	if (store_open(home, &s, err) < 0)
		return -1;
	return vault_mint(s, home, &row, TEXT(PAYLOAD), id, err);
}

static int append(const char *word, struct error *err)
{
	AUTO_PTR(store) s = NULL;
	auto_json *payload = json_pack("{s:s}", "word", word);
	const struct store_audit_event event = {"a.b", "project", "tester", payload};

	return store_open(home, &s, err) < 0 ? -1 : store_audit_append(s, &event, err);
}

/* The scenarios: what was there before, what is done, and how much of it is there. */

static void nothing(void)
{
}

static void some_rows(void)
{
	auto_error struct error err = ERROR_INIT;

	for (int i = 0; i < 3; i++)
		assert_done(append("before", &err), &err);
}

static void some_secrets(void)
{
	auto_error struct error err = ERROR_INIT;

	assert_done(mint("first", &err), &err);
	assert_done(mint("second", &err), &err);
}

/* state.db as the first version of cloop left it. */
static void old_version(void)
{
	auto_free char *file = mem_printf("%s/state.db", home);
	sqlite3 *db;

	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, migrations[0], NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				 "INSERT INTO project (path, first_seen) VALUES ('/a', ''); "
				 "PRAGMA application_id = 1668050800; PRAGMA user_version = 1; "
				 "PRAGMA journal_mode = WAL",
				 NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(chmod(file, 0600), 0);
}

static int do_open(struct error *err)
{
	AUTO_PTR(store) s = NULL;

	return store_open(home, &s, err);
}

static int do_note_relaxed(struct error *err)
{
	AUTO_PTR(store) s = NULL;

	if (store_open(home, &s, err) < 0 || store_relax(s, err) < 0)
		return -1;
	return store_project_note(s, "/new", err);
}

static int do_append(struct error *err)
{
	return append("new", err);
}

static int do_mint(struct error *err)
{
	return mint("new", err);
}

static int do_delete(struct error *err)
{
	AUTO_PTR(store) s = NULL;

	return store_open(home, &s, err) < 0 ? -1 : vault_delete(s, "second", "tester", err);
}

static int do_rekey(struct error *err)
{
	AUTO_PTR(store) s = NULL;
	struct rekey_done done;

	return store_open(home, &s, err) < 0 ? -1
					     : rekey_run(s, home, REKEY_SAME, "tester", &done, err);
}

static const struct scenario {
	const char *name;
	void (*prepare)(void);
	int (*run)(struct error *err);
	const char
		*whole;   /* 1 whether it was done or not, and something else when half of it was */
	const char *done; /* 0: it was not */
} scenarios[] = {
	{"open", nothing, do_open, "SELECT 1", "SELECT 1"},
	{"migrate", old_version, do_open, "SELECT count(*) FROM project", "SELECT 1"},
	{"note", some_rows, do_note_relaxed, "SELECT 1", "SELECT count(*) FROM project"},
	{"append", some_rows, do_append,
		"SELECT (SELECT count(*) FROM audit) = (SELECT seq FROM sqlite_sequence "
		"WHERE name = 'audit')",
		"SELECT count(*) = 4 FROM audit"},
	{"first mint", some_rows, do_mint,
		"SELECT (SELECT count(*) FROM secret) = (SELECT count(*) FROM audit "
		"WHERE action = 'secret.mint')",
		"SELECT count(*) FROM secret"},
	{"mint", some_secrets, do_mint,
		"SELECT (SELECT count(*) FROM secret) = (SELECT count(*) FROM audit "
		"WHERE action = 'secret.mint')",
		"SELECT count(*) = 3 FROM secret"},
	{"delete", some_secrets, do_delete,
		"SELECT (SELECT count(*) FROM secret WHERE name = 'second') + (SELECT count(*) "
		"FROM audit WHERE action = 'secret.delete')",
		"SELECT count(*) = 1 FROM secret"},
	{"rekey", some_secrets, do_rekey,
		"SELECT (SELECT count(DISTINCT kek) FROM secret) = 1 AND (SELECT count(*) FROM "
		"kek) "
		"= 1 + (SELECT count(*) FROM audit WHERE action = 'secret.rekey')",
		"SELECT count(*) FROM audit WHERE action = 'secret.rekey'"},
};

/* Copies of the files of a home. */

static void copy_file(const char *from, const char *to, const char *name)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) content = STR_INIT(FILE_BYTES_MAX);
	auto_free char *source = mem_printf("%s/%s", from, name);
	auto_free char *target = mem_printf("%s/%s", to, name);
	struct stat st;

	if (lstat(source, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	assert_done(file_read(source, content.max, &content, &err), &err);
	auto_fd int fd = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_done(file_write_all(fd, str_text(&content), content.len, &err), &err);
}

/* But for the note of what was set up: it is about that one file. */
static void copy_home(const char *from, const char *to)
{
	static const char *const names[] = {
		"state.db", "state.db-wal", "audit-head", "keys/secret.key"};
	auto_free char *keys = mem_printf("%s/keys", to);

	assert_int_equal(mkdir(to, 0700), 0);
	assert_int_equal(mkdir(keys, 0700), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		copy_file(from, to, names[i]);
}

static void remove_folder(const char *path)
{
	auto_error struct error err = ERROR_INIT;
	auto_fd int dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_done(file_remove_tree_at(dir, strrchr(path, '/') + 1, &err), &err);
}

static void read_everything(struct store *s)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(vault) v = NULL;
	AUTO(query) q = QUERY_INIT;
	int r = vault_open(s, home, &v, &err);

	if (r == VAULT_EMPTY)
		return;
	assert_done(r, &err);
	assert_done(query_prepare(s, "SELECT id FROM secret", &q, &err), &err);
	while (query_step(&q, &err) > 0) {
		AUTO(locked) payload = LOCKED_INIT;
		enum secret_kind kind;
		auto_free char *id = mem_strdup(query_text(&q, 0).p);
		assert_done(vault_read(v, id, &kind, &payload, &err), &err);
		assert_true(text_is(locked_text(&payload), PAYLOAD));
	}
}

static bool check(const struct scenario *sc)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = open_store();
	struct store_audit_check audit;

	assert_int_equal(number(s, "SELECT count(*) FROM pragma_integrity_check "
				   "WHERE integrity_check = 'ok'"),
		1);
	assert_int_equal(number(s, "PRAGMA user_version"), (int64_t)migrations_count);
	assert_done(store_audit_verify(s, &audit, &err), &err);
	assert_int_equal(audit.bad_seq, 0);
	assert_int_equal(number(s, sc->whole), 1);
	read_everything(s);
	return number(s, sc->done) > 0;
}

static bool clear_error(const struct error *err)
{
	static const enum error_code codes[] = {
		ERROR_STORE_FAILED, ERROR_NO_SPACE, ERROR_STORE_CORRUPT, ERROR_STORE_BUSY};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (error_is(err, codes[i]))
			return strstr(err->message, "state.db") != NULL;
	return false;
}

/* True: the call was met, so there may be a further one. */
static bool break_once(const struct scenario *sc, enum broken_call call, int n, bool on, int code)
{
	auto_error struct error err = ERROR_INIT;

	copy_home(template, home);
	broken_arm(call, n, on, code);
	int r = sc->run(&err);
	bool met = broken_disarm();
	if (r != 0 && !clear_error(&err))
		fail_msg("%s, call %d, number %d: %d, %s: %s", sc->name, call, n, r,
			error_code_text(err.code), err.message);
	bool done = check(sc);
	if (r == 0 && !done)
		fail_msg("%s, call %d, number %d: said to be done", sc->name, call, n);
	if (!done) {
		error_clear(&err);
		assert_done(sc->run(&err), &err);
		assert_true(check(sc));
	}
	remove_folder(home);
	return met;
}

static void break_all(const struct scenario *sc)
{
	static const struct {
		enum broken_call call;
		bool on;
		int code;
	} ways[] = {
		{BROKEN_OPEN, false, SQLITE_CANTOPEN},
		{BROKEN_READ, false, SQLITE_IOERR_READ},
		{BROKEN_READ, true, SQLITE_IOERR_READ},
		{BROKEN_WRITE, false, SQLITE_IOERR_WRITE},
		{BROKEN_WRITE, true, SQLITE_FULL},
		{BROKEN_SYNC, false, SQLITE_IOERR_FSYNC},
		{BROKEN_SYNC, true, SQLITE_IOERR_FSYNC},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		int n = 1;
		while (break_once(sc, ways[i].call, n, ways[i].on, ways[i].code))
			assert_true(n++ < CALLS_MAX);
		/* A relaxed commit into a log that is there syncs nothing. */
		if (n == 1 && !(ways[i].call == BROKEN_SYNC && sc->run == do_note_relaxed))
			fail_msg("%s: no call %d is met", sc->name, ways[i].call);
	}
}

static void test_every_call(void **state)
{
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++) {
		assert_int_equal(mkdir(home, 0700), 0);
		scenarios[i].prepare();
		assert_int_equal(rename(home, template), 0);
		break_all(&scenarios[i]);
		remove_folder(template);
	}
}

static int setup(void **state)
{
	const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

	(void)state;
	snprintf(place, sizeof(place), "%s/cloop-fault-XXXXXX", base);
	if (!mkdtemp(place))
		return -1;
	snprintf(home, sizeof(home), "%s/home", place);
	snprintf(template, sizeof(template), "%s/template", place);
	return 0;
}

static int teardown(void **state)
{
	auto_error struct error err = ERROR_INIT;
	char *name = strrchr(place, '/');

	(void)state;
	*name = '\0';
	auto_fd int base = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return file_remove_tree_at(base, name + 1, &err);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_call, setup, teardown),
	};

	broken_vfs_register();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

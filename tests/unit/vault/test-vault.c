/* Secrets in a real database (disk-and-secrets.md §13, §21.10). */
#include "unit/sys/unit-dir.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "store/query.h"
#include "store/secret.h"
#include "sys/env.h"
#include "vault/passphrase.h"
#include "vault/vault.h"

#define CANARY "canary-2f9d7c51-value"
#define LONG "a passphrase of enough bytes"

static struct store *open_store(void)
{
	auto_error struct error err = ERROR_INIT;
	struct store *s = NULL;

	assert_done(store_open(path, &s, &err), &err);
	return s;
}

static void execute(const char *sql)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = open_store();

	assert_done(query_exec(s, sql, &err), &err);
}

static int mint(const char *name, const char *kind, char *ret_id, struct error *err)
{
	AUTO_PTR(store) s = open_store();
	char secret_name[32], secret_kind[32], by[] = "tester";
	struct store_secret row = {.name = secret_name, .kind = secret_kind, .created_by = by};

	snprintf(secret_name, sizeof(secret_name), "%s", name);
	snprintf(secret_kind, sizeof(secret_kind), "%s", kind);
	return vault_mint(s, path, &row, TEXT(CANARY), ret_id, err);
}

/* The code of the error, or "ok" when the payload came out. */
static const char *read_back(const char *id, enum secret_kind want)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = open_store();
	AUTO_PTR(vault) v = NULL;
	AUTO(locked) payload = LOCKED_INIT;
	enum secret_kind kind;

	int r = vault_open(s, path, &v, &err);
	if (r > 0)
		return "empty";
	if (r < 0 || vault_read(v, id, &kind, &payload, &err) < 0) {
		assert_null(payload.p);
		assert_null(strstr(err.message, CANARY));
		return error_code_text(err.code);
	}
	assert_true(text_is(locked_text(&payload), CANARY));
	assert_int_equal(kind, want);
	return "ok";
}

static void set_passphrase(const char *value)
{
	if (value)
		assert_int_equal(setenv("CLOOP_SECRET_KEY", value, 1), 0);
	passphrase_take();
}

static int setup(void **state)
{
	set_passphrase(NULL);
	return dir_setup(state);
}

static void test_key_file(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	char id[VAULT_SECRET_ID_SIZE], other[VAULT_SECRET_ID_SIZE];
	struct stat st;

	assert_string_equal(read_back("sec_000000000000000000000000", SECRET_ENV), "empty");
	assert_int_equal(faccessat(dir, "keys", F_OK, 0), -1);
	assert_done(mint("a", "env", id, &err), &err);
	assert_done(mint("b", "file", other, &err), &err);
	assert_int_equal(fstatat(dir, "keys/secret.key", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(st.st_size, 78);
	assert_int_equal(faccessat(dir, "keys/secret.key.next", F_OK, 0), -1);
	assert_string_equal(read_back(id, SECRET_ENV), "ok");
	assert_string_equal(read_back(other, SECRET_FILE), "ok");
	assert_string_equal(
		read_back("sec_000000000000000000000000", SECRET_ENV), "secret_not_found");
	assert_int_equal(mint("a", "env", id, &err), -1);
	assert_true(error_is(&err, ERROR_SECRET_EXISTS));
}

static void test_key_file_refused(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	char id[VAULT_SECRET_ID_SIZE];

	assert_done(mint("a", "env", id, &err), &err);
	assert_int_equal(fchmodat(dir, "keys/secret.key", 0640, 0), 0);
	assert_string_equal(read_back(id, SECRET_ENV), "secret_key_wrong");
	assert_int_equal(fchmodat(dir, "keys/secret.key", 0600, 0), 0);
	assert_int_equal(linkat(dir, "keys/secret.key", dir, "second", 0), 0);
	assert_string_equal(read_back(id, SECRET_ENV), "secret_key_wrong");
	assert_int_equal(renameat(dir, "keys/secret.key", dir, "third"), 0);
	assert_string_equal(read_back(id, SECRET_ENV), "secret_key_missing");
	assert_int_equal(unlinkat(dir, "third", 0), 0);
	assert_int_equal(symlinkat("../second", dir, "keys/secret.key"), 0);
	assert_string_equal(read_back(id, SECRET_ENV), "secret_key_wrong");
	assert_int_equal(mint("b", "env", id, &err), -1);
	assert_true(error_is(&err, ERROR_SECRET_KEY_WRONG));
	assert_int_equal(unlinkat(dir, "keys/secret.key", 0), 0);
	assert_int_equal(mkdirat(dir, "keys/secret.key", 0600), 0);
	assert_string_equal(read_back(id, SECRET_ENV), "secret_key_wrong");
	assert_int_equal(unlinkat(dir, "keys/secret.key", AT_REMOVEDIR), 0);
	assert_int_equal(mkfifoat(dir, "keys/secret.key", 0600), 0);
	assert_string_equal(read_back(id, SECRET_ENV), "secret_key_wrong");
	assert_int_equal(unlinkat(dir, "keys/secret.key", 0), 0);
	assert_int_equal(renameat(dir, "second", dir, "keys/secret.key"), 0);
	assert_string_equal(read_back(id, SECRET_ENV), "ok");
}

static void test_passphrase(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	char id[VAULT_SECRET_ID_SIZE];

	set_passphrase("fifteen bytes..");
	assert_int_equal(mint("a", "env", id, &err), -1);
	assert_true(error_is(&err, ERROR_SECRET_KEY_WEAK));
	set_passphrase(LONG);
	assert_null(env_value("CLOOP_SECRET_KEY"));
	assert_done(mint("a", "env", id, &err), &err);
	assert_int_equal(faccessat(dir, "keys", F_OK, 0), -1);
	assert_string_equal(read_back(id, SECRET_ENV), "ok");
	set_passphrase(LONG ".");
	assert_string_equal(read_back(id, SECRET_ENV), "secret_key_wrong");
	set_passphrase(NULL);
	assert_string_equal(read_back(id, SECRET_ENV), "secret_key_missing");
	/* Never a second primary, which would hide what the first one sealed. */
	assert_int_equal(mint("b", "env", id, &err), -1);
	assert_true(error_is(&err, ERROR_SECRET_KEY_MISSING));
	assert_int_equal(faccessat(dir, "keys", F_OK, 0), -1);
}

/* No row can be passed off as another, and no bit of one changed. */
static void test_rows_swapped(void **state)
{
	(void)state;
	static const char *const changes[] = {
		"UPDATE secret SET payload = (SELECT payload FROM secret WHERE name = 'b') "
		"WHERE name = 'a'",
		"UPDATE secret SET dek = (SELECT dek FROM secret WHERE name = 'b') "
		"WHERE name = 'a'",
		"UPDATE secret SET (dek, payload) = (SELECT dek, payload FROM secret "
		"WHERE name = 'b') WHERE name = 'a'",
		"UPDATE secret SET kind = 'file' WHERE name = 'a'",
		"UPDATE secret SET kind = 'no such' WHERE name = 'a'",
		"UPDATE secret SET payload = x'' WHERE name = 'a'",
		"UPDATE secret SET payload = zeroblob(1000000) WHERE name = 'a'",
		"UPDATE secret SET dek = x'01' WHERE name = 'a'",
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		auto_error struct error err = ERROR_INIT;
		char a[VAULT_SECRET_ID_SIZE], b[VAULT_SECRET_ID_SIZE];

		execute("DELETE FROM secret");
		assert_done(mint("a", "env", a, &err), &err);
		assert_done(mint("b", "env", b, &err), &err);
		execute(changes[i]);
		assert_string_equal(read_back(a, SECRET_ENV), "secret_store");
		assert_string_equal(read_back(b, SECRET_ENV), "ok");
	}
}

static void test_states_of_keys(void **state)
{
	(void)state;
	static const struct {
		const char *sql, *code;
	} changes[] = {
		{"UPDATE kek SET state = 'active'", "secret_key_state"},
		{"UPDATE kek SET state = 'retired'", "secret_key_state"},
		{"DROP INDEX kek_primary; INSERT INTO kek SELECT 'kek_000000000000000000000000', "
		 "source, salt, opslimit, memlimit, state, sealed_check, '' FROM kek",
			"secret_key_state"},
		{"UPDATE kek SET sealed_check = x'00'", "secret_key_wrong"},
		{"UPDATE kek SET sealed_check = zeroblob(1000)", "secret_key_state"},
		{"UPDATE kek SET salt = x'00'", "secret_key_state"},
		{"UPDATE kek SET source = 'passphrase', salt = zeroblob(16)", "secret_key_missing"},
		{"PRAGMA foreign_keys = OFF; UPDATE kek SET id = 'kek_000000000000000000000000'",
			"secret_key_wrong"},
		{"PRAGMA foreign_keys = OFF; UPDATE kek SET id = 'kek'", "secret_key_state"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		auto_error struct error err = ERROR_INIT;
		char id[VAULT_SECRET_ID_SIZE];

		assert_done(mint("a", "env", id, &err), &err);
		execute(changes[i].sql);
		assert_string_equal(read_back(id, SECRET_ENV), changes[i].code);
		assert_int_equal(mint("b", "env", id, &err), -1);
		assert_string_equal(error_code_text(err.code), changes[i].code);
		for (const char *const *name = (const char *const[]){"state.db", "state.db-wal",
			     "state.db-shm", "state-setup-0", NULL};
			*name; name++)
			unlinkat(dir, *name, 0);
	}
}

/* Parameters of the row, as far as they are ever written. */
static void test_limits_of_rows(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	char id[VAULT_SECRET_ID_SIZE];

	set_passphrase(LONG);
	assert_done(mint("a", "env", id, &err), &err);
	execute("UPDATE kek SET memlimit = 8388608");
	assert_string_equal(read_back(id, SECRET_ENV), "secret_key_wrong");
	execute("UPDATE kek SET memlimit = 1099511627776");
	assert_string_equal(read_back(id, SECRET_ENV), "secret_key_state");
	execute("UPDATE kek SET memlimit = 268435456, opslimit = 0");
	assert_string_equal(read_back(id, SECRET_ENV), "secret_key_state");
	execute("UPDATE kek SET opslimit = 3");
	assert_string_equal(read_back(id, SECRET_ENV), "ok");
}

/* Many first secrets at once: one key, and everything opens. */
static void test_side_by_side(void **state)
{
	(void)state;
	enum { PROCESSES = 6 };
	int status;

	for (int i = 0; i < PROCESSES; i++) {
		if (fork() != 0)
			continue;
		auto_error struct error err = ERROR_INIT;
		char id[VAULT_SECRET_ID_SIZE], name[16];
		snprintf(name, sizeof(name), "s%d", i);
		_exit(mint(name, "env", id, &err) == 0 &&
					strcmp(read_back(id, SECRET_ENV), "ok") == 0
				? 0
				: 1);
	}
	for (int i = 0; i < PROCESSES; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	AUTO_PTR(store) s = open_store();
	AUTO(query) q = QUERY_INIT;
	auto_error struct error err = ERROR_INIT;
	assert_done(query_prepare(s,
			    "SELECT (SELECT count(*) FROM kek), (SELECT count(*) FROM secret), "
			    "(SELECT count(*) FROM audit WHERE action = 'secret.mint')",
			    &q, &err),
		&err);
	assert_int_equal(query_step(&q, &err), 1);
	assert_int_equal(query_int(&q, 0), 1);
	assert_int_equal(query_int(&q, 1), PROCESSES);
	assert_int_equal(query_int(&q, 2), PROCESSES);
}

static void assert_without(const char *name, const char *words)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) content = STR_INIT(16 << 20);
	auto_free char *file = mem_printf("%s/%s", path, name);

	assert_done(file_read(file, content.max, &content, &err), &err);
	assert_true(content.len > 0);
	assert_null(memmem(content.data, content.len, words, strlen(words)));
}

static void test_nothing_in_the_clear(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) keep = open_store(); /* so that the log stays */
	char id[VAULT_SECRET_ID_SIZE];

	assert_done(mint("a", "env", id, &err), &err);
	assert_without("state.db", CANARY);
	assert_without("state.db-wal", CANARY);
	execute("PRAGMA wal_checkpoint(TRUNCATE)");
	assert_without("state.db", CANARY);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, dir_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_key_file),
		TEST(test_key_file_refused),
		TEST(test_passphrase),
		TEST(test_rows_swapped),
		TEST(test_states_of_keys),
		TEST(test_limits_of_rows),
		TEST(test_side_by_side),
		TEST(test_nothing_in_the_clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

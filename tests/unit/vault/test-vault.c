/* Secrets in a real database (disk-and-secrets.md §13, §21.10). */
#include "unit/vault/unit-vault.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "sys/env.h"

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
	assert_int_equal(number("SELECT count(*) FROM kek"), 1);
	assert_int_equal(number("SELECT count(*) FROM secret"), PROCESSES);
	assert_int_equal(
		number("SELECT count(*) FROM audit WHERE action = 'secret.mint'"), PROCESSES);
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

	assert_non_null(keep);
	assert_done(mint("a", "env", id, &err), &err);
	assert_without("state.db", CANARY);
	assert_without("state.db-wal", CANARY);
	execute("PRAGMA wal_checkpoint(TRUNCATE)");
	assert_without("state.db", CANARY);
}

/* What is deleted is not found again, not even sealed. */
static void test_delete(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = open_store();
	AUTO(store_secret_sealed) sealed = STORE_SECRET_SEALED_INIT;
	AUTO(str) content = STR_INIT(16 << 20);
	auto_free char *file = mem_printf("%s/state.db", path);
	auto_free char *log = mem_printf("%s/state.db-wal", path);
	char id[VAULT_SECRET_ID_SIZE], other[VAULT_SECRET_ID_SIZE];

	assert_done(mint("a", "env", id, &err), &err);
	assert_done(mint("b", "env", other, &err), &err);
	assert_done(store_secret_find_sealed(s, id, &sealed, &err), &err);
	assert_int_equal(vault_delete(s, "c", "tester", &err), -1);
	assert_true(error_is(&err, ERROR_SECRET_NOT_FOUND));
	assert_done(vault_delete(s, "a", "tester", &err), &err);
	assert_string_equal(read_back(id, SECRET_ENV), "secret_not_found");
	assert_string_equal(read_back(other, SECRET_ENV), "ok");
	assert_int_equal(number("SELECT count(*) FROM audit WHERE action = 'secret.delete' AND "
				"json_extract(payload, '$.name') = 'a' AND actor = 'tester'"),
		1);
	for (const char *const *name = (const char *const[]){file, log, NULL}; *name; name++) {
		assert_done(file_read(*name, content.max, &content, &err), &err);
		assert_null(memmem(content.data, content.len, sealed.dek.data, sealed.dek.len));
		assert_null(
			memmem(content.data, content.len, sealed.payload.data, sealed.payload.len));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_VAULT(test_key_file),
		IN_VAULT(test_key_file_refused),
		IN_VAULT(test_passphrase),
		IN_VAULT(test_rows_swapped),
		IN_VAULT(test_states_of_keys),
		IN_VAULT(test_limits_of_rows),
		IN_VAULT(test_side_by_side),
		IN_VAULT(test_nothing_in_the_clear),
		IN_VAULT(test_delete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

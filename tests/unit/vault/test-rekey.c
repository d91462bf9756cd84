/* Rekeying, whole and interrupted (disk-and-secrets.md §13, §21.10). */
#include "unit/vault/unit-vault.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/text.h"
#include "sys/fault.h"
#include "vault/rekey.h"

enum { SECRETS = 3 };

static char ids[SECRETS][VAULT_SECRET_ID_SIZE];

static void mint_all(void)
{
	auto_error struct error err = ERROR_INIT;
	char name[16];

	for (size_t i = 0; i < SECRETS; i++) {
		snprintf(name, sizeof(name), "s%zu", i);
		assert_done(mint(name, "file", ids[i], &err), &err);
	}
}

static int rekey(enum rekey_to to, struct rekey_done *ret, struct error *err)
{
	AUTO_PTR(store) s = NULL;

	return store_open(path, &s, err) < 0 ? -1 : rekey_run(s, path, to, "tester", ret, err);
}

static void all_open(void)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = open_store();
	AUTO_PTR(vault) v = NULL;

	assert_int_equal(number("SELECT count(*) FROM kek WHERE state = 'primary'"), 1);
	assert_done(vault_open(s, path, &v, &err), &err);
	for (size_t i = 0; i < SECRETS; i++)
		assert_string_equal(read_from(v, ids[i], SECRET_FILE), "ok");
}

static void read_key_file(char *ret, size_t size)
{
	auto_fd int fd = openat(dir, "keys/secret.key", O_RDONLY | O_CLOEXEC);

	memset(ret, 0, size);
	assert_true(read(fd, ret, size - 1) > 0);
}

static void test_nothing_sealed(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct rekey_done done;

	assert_int_equal(rekey(REKEY_SAME, &done, &err), REKEY_EMPTY);
	assert_int_equal(number("SELECT count(*) FROM kek"), 0);
	assert_int_equal(faccessat(dir, "keys", F_OK, 0), -1);
}

static void test_key_file(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	char before[128], after[128];
	struct rekey_done done;

	mint_all();
	read_key_file(before, sizeof(before));
	assert_done(rekey(REKEY_SAME, &done, &err), &err);
	read_key_file(after, sizeof(after));
	assert_string_not_equal(before, after);
	assert_int_equal(done.secrets, SECRETS);
	assert_int_equal(done.from, STORE_KEK_KEY_FILE);
	assert_int_equal(done.to, STORE_KEK_KEY_FILE);
	all_open();
	assert_int_equal(number("SELECT count(*) FROM kek WHERE state = 'retired'"), 1);
	assert_int_equal(number("SELECT count(*) FROM kek WHERE state = 'active'"), 0);
	/* A retired row goes with the next one. */
	assert_done(rekey(REKEY_TO_KEY_FILE, &done, &err), &err);
	assert_int_equal(number("SELECT count(*) FROM kek"), 2);
	all_open();
	assert_int_equal(number("SELECT count(*) FROM audit WHERE action = 'secret.rekey'"), 2);
	assert_int_equal(faccessat(dir, "keys/secret.key.next", F_OK, 0), -1);
}

static void test_there_and_back(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct rekey_done done;

	mint_all();
	assert_int_equal(rekey(REKEY_TO_PASSPHRASE, &done, &err), -1);
	assert_true(error_is(&err, ERROR_SECRET_KEY_MISSING));
	set_passphrase("short");
	assert_int_equal(rekey(REKEY_TO_PASSPHRASE, &done, &err), -1);
	assert_true(error_is(&err, ERROR_SECRET_KEY_WEAK));
	set_passphrase(LONG);
	assert_done(rekey(REKEY_TO_PASSPHRASE, &done, &err), &err);
	assert_int_equal(done.to, STORE_KEK_PASSPHRASE);
	assert_int_equal(faccessat(dir, "keys/secret.key", F_OK, 0), -1);
	all_open();
	set_passphrase(NULL);
	assert_string_equal(read_back(ids[0], SECRET_FILE), "secret_key_missing");
	set_passphrase(LONG);
	assert_done(rekey(REKEY_SAME, &done, &err), &err);
	all_open();
	assert_done(rekey(REKEY_TO_KEY_FILE, &done, &err), &err);
	assert_int_equal(faccessat(dir, "keys/secret.key", F_OK, 0), 0);
	set_passphrase(NULL);
	all_open();
}

/* One row that does not open: nothing is changed, and which one it is is said. */
static void test_damaged_row(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct rekey_done done;
	char before[128], after[128];

	mint_all();
	execute("UPDATE secret SET dek = zeroblob(73) WHERE name = 's1'");
	read_key_file(before, sizeof(before));
	assert_int_equal(rekey(REKEY_SAME, &done, &err), -1);
	assert_true(error_is(&err, ERROR_SECRET_STORE));
	assert_non_null(strstr(err.message, ids[1]));
	read_key_file(after, sizeof(after));
	assert_string_equal(before, after);
	assert_int_equal(number("SELECT count(*) FROM kek"), 1);
	assert_int_equal(faccessat(dir, "keys/secret.key.next", F_OK, 0), -1);
	assert_string_equal(read_back(ids[0], SECRET_FILE), "ok");
	assert_string_equal(read_back(ids[2], SECRET_FILE), "ok");
}

/* A rekey of another process, armed: true = it was killed at the point. */
static bool killed_at(const char *point, enum rekey_to to)
{
	int status;

	pid_t pid = fork();
	if (pid == 0) {
		auto_error struct error err = ERROR_INIT;
		struct rekey_done done;
		fault_arm(point);
		_exit(rekey(to, &done, &err) == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* Everything opens after the kill, new secrets can be minted, and the next rekey is whole. */
static void check_after_kill(enum rekey_to next)
{
	auto_error struct error err = ERROR_INIT;
	char id[VAULT_SECRET_ID_SIZE];
	struct rekey_done done;

	all_open();
	assert_done(mint("new", "env", id, &err), &err);
	assert_string_equal(read_back(id, SECRET_ENV), "ok");
	assert_done(rekey(next, &done, &err), &err);
	all_open();
	assert_string_equal(read_back(id, SECRET_ENV), "ok");
	assert_int_equal(number("SELECT count(*) FROM kek WHERE state = 'active'"), 0);
	assert_int_equal(faccessat(dir, "keys/secret.key.next", F_OK, 0), -1);
	execute("DELETE FROM secret WHERE name = 'new'");
}

static void test_killed_anywhere(void **state)
{
	(void)state;
	static const char *const seams[] = {"rekey:file", "rekey:rows", "rekey:committed",
		"rekey:placed", "rekey:retired", "store-exec", "store-write", "key:write"};

	mint_all();
	for (size_t i = 0; i < ARRAY_SIZE(seams); i++) {
		unsigned n = 1;
		for (;; n++) {
			auto_free char *armed = mem_printf("%s:%u=kill", seams[i], n);
			if (!killed_at(armed, REKEY_SAME))
				break;
			check_after_kill(REKEY_SAME);
		}
		assert_true(n > 1);
	}
}

static void test_killed_between_sources(void **state)
{
	(void)state;
	static const char *const points[] = {"rekey:rows=kill", "rekey:committed=kill"};

	set_passphrase(LONG);
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		if (i == 0)
			mint_all();
		assert_true(killed_at(points[i], REKEY_TO_KEY_FILE));
		check_after_kill(REKEY_TO_KEY_FILE);
		assert_true(killed_at(points[i], REKEY_TO_PASSPHRASE));
		check_after_kill(REKEY_TO_PASSPHRASE);
	}
}

/* A failure that is no crash: an error before the commit, a warning after it. */
static void test_fails_anywhere(void **state)
{
	(void)state;
	static const char *const seams[] = {"rekey:file", "rekey:rows", "rekey:committed",
		"rekey:placed", "rekey:retired", "store-exec", "store-write", "key:write"};

	mint_all();
	for (size_t i = 0; i < ARRAY_SIZE(seams); i++) {
		for (unsigned n = 1;; n++) {
			auto_error struct error err = ERROR_INIT;
			auto_free char *armed = mem_printf("%s:%u", seams[i], n);
			struct rekey_done done;
			fault_arm(armed);
			int r = rekey(REKEY_SAME, &done, &err);
			bool met = !fault_armed();
			fault_arm(NULL);
			all_open();
			assert_true(r == 0 || err.message[0]);
			if (!met)
				break;
		}
	}
}

/* Mints and rekeys of several processes: whatever came out still opens. */
static void test_side_by_side(void **state)
{
	(void)state;
	enum { PROCESSES = 6 };
	int status;

	mint_all();
	for (int i = 0; i < PROCESSES; i++) {
		if (fork() != 0)
			continue;
		auto_error struct error err = ERROR_INIT;
		char id[VAULT_SECRET_ID_SIZE], name[16];
		struct rekey_done done;
		snprintf(name, sizeof(name), "p%d", i);
		int r = i % 2 ? rekey(REKEY_SAME, &done, &err) : mint(name, "env", id, &err);
		_exit(r == 0 || error_is(&err, ERROR_STORE_BUSY) ? 0 : 1);
	}
	for (int i = 0; i < PROCESSES; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	all_open();
	assert_int_equal(number("SELECT count(*) FROM secret"), SECRETS + PROCESSES / 2);
	assert_int_equal(number("SELECT count(DISTINCT kek) FROM secret"), 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_VAULT(test_nothing_sealed),
		IN_VAULT(test_key_file),
		IN_VAULT(test_there_and_back),
		IN_VAULT(test_damaged_row),
		IN_VAULT(test_killed_anywhere),
		IN_VAULT(test_killed_between_sources),
		IN_VAULT(test_fails_anywhere),
		IN_VAULT(test_side_by_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A verification in which any call of the system may fail (trust/verify.h). */
#include "fault/every.h"

#include <glob.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/text.h"
#include "store/query.h"
#include "store/store.h"
#include "sys/clock.h"
#include "trust/verify.h"
#include "unit/sys/unit-dir.h"

static void write_file(const char *name, const char *content, mode_t mode)
{
	auto_error struct error err = ERROR_INIT;

	assert_done(file_replace_at(dir, name, mode, text_of(content), false, &err), &err);
}

/* A cosign that ends with this status, a key, and a store that is set up. */
static void prepare(const char *script)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;

	assert_int_equal(mkdirat(dir, "bin", 0755), 0);
	assert_int_equal(symlinkat("../script", dir, "bin/cosign"), 0);
	write_file("script", script, 0755);
	write_file("key.pub", "a key\n", 0644);
	assert_done(store_open(path, &s, &err), &err);
	auto_free char *bin = mem_printf("%s/bin", path);
	assert_int_equal(setenv("PATH", bin, 1), 0);
	assert_int_equal(setenv("HOME", path, 1), 0);
	assert_int_equal(setenv("DOCKER_CONFIG", path, 1), 0);
	clock_boot_id();
}

static int ask(enum trust_end *ret, struct error *err)
{
	static const char digest[] =
		"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	AUTO(trust_answer) a = {.attempts = NULL};
	auto_free char *key = mem_printf("%s/key.pub", path);
	struct image_policy policy = {
		.require_signature = true, .cosign_public_keys = {.items = STRV_INIT(1)}};
	struct image_reference image = {.registry = "registry.example", .repository = "a/b"};
	struct trust_question q = {.policy = &policy,
		.image = &image,
		.home = path,
		.deadline_ms = clock_boottime_ms() + 20000,
		.cancel_fd = -1};

	memcpy(image.digest, digest, sizeof(digest));
	strv_add(&policy.cosign_public_keys.items, key);
	int r = trust_verify(&q, &a, err);
	strv_done(&policy.cosign_public_keys.items);
	*ret = a.end;
	return r < 0 || a.end == TRUST_VERIFIED ? r : error_set(err, ERROR_USAGE, "%s", a.reason);
}

static int run_ask(void *data, struct error *err)
{
	enum trust_end end;

	(void)data;
	return ask(&end, err);
}

static bool any(const char *pattern)
{
	glob_t found = {0};
	bool there = glob(pattern, 0, NULL, &found) == 0;

	globfree(&found);
	return there;
}

static void forget(void)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;

	assert_done(store_open(path, &s, &err), &err);
	assert_done(query_exec(s, "DELETE FROM verified", &err), &err);
}

/* No login is left in memory, no lock file behind a lock, and nothing is known for next time. */
static void check_left(void *data, bool done)
{
	auto_free char *locks = mem_printf("%s/locks/verify-*", path);

	(void)data;
	assert_false(any("/dev/shm/cloop-cosign-*"));
	if (done)
		assert_false(any(locks));
	forget();
}

static void test_every_call(void **state)
{
	(void)state;
	struct scenario s = {"verify", run_ask, check_left, NULL};

	prepare("#!/bin/sh\nexit 0\n");
	every_hit(&s, "spawn", 1);
	every_hit(&s, "lock", 1);
	every_hit(&s, "file-write", 1);
	every_hit(&s, "file-dirs", 2);
	every_descriptor(&s);
}

/* Whatever fails, a signature that cosign refuses is not taken for verified, now or later. */
static void test_never_for_nothing(void **state)
{
	(void)state;
	static const char *const points[] = {"spawn", "lock", "file-write", "file-dirs",
		"store-open", "store-exec", "store-write"};

	prepare("#!/bin/sh\nexit 1\n");
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		for (int n = 1; n < 8; n++) {
			auto_error struct error err = ERROR_INIT;
			auto_free char *armed = mem_printf("%s:%d", points[i], n);
			enum trust_end end = TRUST_NEVER;
			fault_arm(armed);
			assert_int_equal(ask(&end, &err), -1);
			fault_arm(NULL);
			error_clear(&err);
			assert_int_equal(ask(&end, &err), -1);
			assert_int_equal(end, TRUST_FAILED);
		}
	}
}

/* A store that fails costs the cache and nothing else. */
static void test_without_store(void **state)
{
	(void)state;
	static const char *const points[] = {"store-open", "store-exec", "store-write"};

	prepare("#!/bin/sh\nexit 0\n");
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		for (int n = 1; n < 6; n++) {
			auto_error struct error err = ERROR_INIT;
			auto_free char *armed = mem_printf("%s:%d", points[i], n);
			enum trust_end end = TRUST_NEVER;
			fault_arm(armed);
			assert_done(ask(&end, &err), &err);
			fault_arm(NULL);
			check_left(NULL, true);
		}
	}
	write_file("state.db", "this is no database, and nothing of it is kept", 0600);
	auto_error struct error err = ERROR_INIT;
	enum trust_end end = TRUST_NEVER;
	assert_done(ask(&end, &err), &err);
}

/* Other tests verify at the same time, and some of them are killed: a /dev/shm of our own. */
static void own_shm(void)
{
	if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		(void)!mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_DIR(test_every_call),
		IN_DIR(test_never_for_nothing),
		IN_DIR(test_without_store),
	};
	own_shm();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

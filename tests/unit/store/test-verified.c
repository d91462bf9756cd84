/* Verified signatures that are kept (image-trust.md §8.3). */
#include "unit/sys/unit-dir.h"

#include "store/query.h"
#include "store/store.h"
#include "store/verified.h"

enum { HOUR_MS = VERIFIED_SECONDS * 1000 };

static const struct verified base = {
	.fingerprint = "f", .reference = "r@d", .boot_id = "boot", .boottime_ms = 10 * HOUR_MS};

static int found(struct store *s, struct verified v)
{
	auto_error struct error err = ERROR_INIT;
	int r = verified_find(s, &v, &err);

	if (r < 0)
		fail_msg("%s", err.message);
	return r == 0;
}

static void add(struct store *s, struct verified v)
{
	auto_error struct error err = ERROR_INIT;

	assert_done(verified_add(s, &v, &err), &err);
}

static void test_validity(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	struct verified v = base;

	assert_done(store_open(path, &s, &err), &err);
	assert_false(found(s, base));
	add(s, base);
	assert_true(found(s, base));
	v.boottime_ms = base.boottime_ms + HOUR_MS - 1;
	assert_true(found(s, v));
	v.boottime_ms = base.boottime_ms + HOUR_MS;
	assert_false(found(s, v));
	v.boottime_ms = base.boottime_ms - 1; /* not of this boot, whatever its id says */
	assert_false(found(s, v));
	v = base;
	v.boot_id = "other";
	assert_false(found(s, v));
	v = base;
	v.fingerprint = "g";
	assert_false(found(s, v));
	v = base;
	v.reference = "r@e";
	assert_false(found(s, v));
	/* Verified anew: the newer one counts. */
	v = base;
	v.boottime_ms += HOUR_MS;
	add(s, v);
	assert_true(found(s, v));
}

static void test_oldest_go(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	char name[32];

	assert_done(store_open(path, &s, &err), &err);
	add(s, base);
	for (int i = 0; i < VERIFIED_ROWS_MAX; i++) {
		struct verified v = base;
		snprintf(name, sizeof(name), "r@%d", i);
		v.reference = name;
		v.boot_id = i % 2 ? "boot" : "another"; /* of any boot */
		v.boottime_ms = i % 2 ? base.boottime_ms : 1;
		add(s, v);
		if (i == VERIFIED_ROWS_MAX - 2)
			assert_true(found(s, base));
	}
	assert_false(found(s, base));
	AUTO(query) q = QUERY_INIT;
	assert_done(query_prepare(s, "SELECT count(*) FROM verified", &q, &err), &err);
	assert_int_equal(query_step(&q, &err), 1);
	assert_int_equal(query_int(&q, 0), VERIFIED_ROWS_MAX);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_DIR(test_validity),
		IN_DIR(test_oldest_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit/unit.h"

#include "base/json.h"
#include "limits/disk-breach.h"
#include "limits/disk-limit.h"

/* Our own run directory may hold a breach by names; from outside only bytes count. */
static void test_names(void **state)
{
	(void)state;
	AUTO(disk_breach) b = DISK_BREACH_INIT;
	AUTO(disk_breach) read = DISK_BREACH_INIT;
	struct disk_breach made = {.used_bytes = 1,
		.limit_mb = 64,
		.source = "ceiling",
		.path = "/srv/p",
		.entries = 100001,
		.entries_limit = 100000,
		.measured_at = 1};
	auto_json *j = disk_breach_to_json(&made);

	assert_string_equal(json_get_string(j, "measured_at"), "1970-01-01T00:00:01Z");
	assert_int_equal(disk_breach_read(text_of("disk_limit"), j, &b), 1);
	json_object_set_new(j, "used_bytes", json_integer(65 << 20));
	assert_int_equal(disk_breach_read(text_of("disk_limit"), j, &b), 0);
	assert_int_equal(b.entries, 0);
	assert_int_equal(b.entries_limit, 0);
	json_object_set_new(j, "used_bytes", json_integer(1));
	assert_int_equal(disk_breach_restore(j, &read), 0);
	assert_int_equal(read.entries, 100001);
	assert_int_equal(read.entries_limit, 100000);
	assert_string_equal(read.source, "ceiling");
	auto_free char *text = disk_breach_text(&read);
	assert_string_equal(text,
		"stopped at its disk limit: 1 MB used, the limit is 64 MB (an operator's disk "
		"ceiling); 100001 names, and the run may have 100000");
}

static void test_malformed(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"null",
		"[]",
		"{\"used_bytes\": 1e300, \"limit_mb\": 64}",
		"{\"used_bytes\": \"73400320\", \"limit_mb\": 64}",
		"{\"used_bytes\": 73400320, \"limit_mb\": 64.5}",
		"{\"used_bytes\": -73400320, \"limit_mb\": 64}",
		"{\"used_bytes\": true, \"limit_mb\": 64}",
		"{\"used_bytes\": 73400320}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		AUTO(disk_breach) b = DISK_BREACH_INIT;
		auto_json *j = json_loads(bad[i], JSON_DECODE_ANY, NULL);
		assert_non_null(j);
		assert_int_equal(disk_breach_read(text_of("disk_limit"), j, &b), 1);
	}
}

static void test_path(void **state)
{
	(void)state;
	auto_free char *path = disk_breach_path(text_of("/a\xff\xc2\x85\xe2\x80\xa8"
							"b\xef\xbf\xbd"
							"\xe2\x81\xa9\xd8\x9c"
							"c\x7f"));

	assert_string_equal(path, "/abc");
}

static void test_near(void **state)
{
	(void)state;
	assert_true(disk_limit_near(UINT64_MAX, 1 << 20));
	assert_false(disk_limit_near(UINT64_MAX / 32, 1 << 20) &&
		     !disk_limit_over(UINT64_MAX / 32, 1 << 20));
	assert_false(disk_limit_over(UINT64_MAX, 0));
	assert_int_equal(disk_limit_used_mb(INT64_MAX), INT64_C(1) << 43);
	assert_int_equal(disk_limit_used_mb(INT64_MIN), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit/unit.h"

#include <time.h>

#include "base/num.h"

enum { NS_PER_S = 1000000000 };

static void test_rfc3339(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ns; /* -1 = refused */
	} rows[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"1970-01-01T00:00:00.000000001Z", 1},
		{"1970-01-01T00:00:01.5Z", 1500000000},
		{"1970-01-01T00:00:01.123456789Z", 1123456789},
		{"1970-01-01T01:00:00+01:00", 0},
		{"1969-12-31T23:00:00-01:00", -1},
		{"1970-01-01T00:00:00+00:01", -1},
		{"1970-01-01T00:00:00-23:59", INT64_C(86340) * NS_PER_S},
		{"1970-01-01T00:00:00-24:00", -1},
		{"1970-01-01T00:00:00+00:60", -1},
		{"2024-02-29T12:34:56.1Z", INT64_C(1709210096100000000)},
		{"2023-02-29T12:34:56Z", -1},
		{"2100-02-29T00:00:00Z", -1},
		{"2000-02-29T00:00:00Z", INT64_C(951782400) * NS_PER_S},
		{"2026-08-23T04:07:51Z", INT64_C(1787458071) * NS_PER_S},
		{"2026-08-23T04:07:59Z", INT64_C(1787458079) * NS_PER_S},
		{"2026-08-23T04:07:60Z", -1},
		{"2026-08-23T24:00:00Z", -1},
		{"2026-08-23T04:60:00Z", -1},
		{"2026-13-01T00:00:00Z", -1},
		{"2026-00-01T00:00:00Z", -1},
		{"2026-04-31T00:00:00Z", -1},
		{"2026-04-00T00:00:00Z", -1},
		{"0001-01-01T00:00:00Z", -1},
		{"1969-12-31T23:59:59Z", -1},
		{"2200-12-31T23:59:59Z", INT64_C(7289654399) * NS_PER_S},
		{"2201-01-01T00:00:00Z", INT64_C(7289654400) * NS_PER_S},
		{"2262-04-11T23:47:16.854775806Z", INT64_MAX - 1},
		{"2262-04-11T23:47:16.854775807Z", INT64_MAX},
		{"2262-04-11T23:47:16.854775808Z", INT64_MAX},
		{"2262-04-11T23:47:17Z", INT64_MAX},
		{"9999-12-31T23:59:59Z", INT64_MAX},
		{"9999-13-31T23:59:59Z", -1},
		{"2026-08-23t04:07:51Z", -1},
		{"2026-08-23T04:07:51z", -1},
		{"2026-08-23 04:07:51Z", -1},
		{"2026-08-23T04:07:51", -1},
		{"2026-08-23T04:07:51.Z", -1},
		{"2026-08-23T04:07:51.1234567890Z", -1},
		{"2026-08-23T04:07:51,5Z", -1},
		{"2026-08-23T04:07Z", -1},
		{"2026-8-23T04:07:51Z", -1},
		{"2026-08-23T04:07:51+0100", -1},
		{"2026-08-23T04:07:51+01", -1},
		{"2026-08-23T04:07:51Z ", -1},
		{" 2026-08-23T04:07:51Z", -1},
		{"-2026-08-23T04:07:51Z", -1},
		{"", -1},
		{"2026", -1},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t ns = -1;
		bool ok = num_parse_rfc3339(text_of(rows[i].text), &ns);
		if (ok != (rows[i].ns >= 0) || (ok && ns != rows[i].ns))
			fail_msg("%s: %d, %lld", rows[i].text, ok, (long long)ns);
	}
}

/* Every day of the range, against the C library. */
static void test_calendar(void **state)
{
	(void)state;
	for (time_t s = 0; s < INT64_C(230) * 366 * 86400; s += 86400) {
		struct tm tm;
		char text[32];
		int64_t ns;
		assert_non_null(gmtime_r(&s, &tm));
		if (tm.tm_year > 300)
			break;
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
		if (!num_parse_rfc3339(text_of(text), &ns) || ns != (int64_t)s * NS_PER_S)
			fail_msg("%s", text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rfc3339), cmocka_unit_test(test_calendar)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

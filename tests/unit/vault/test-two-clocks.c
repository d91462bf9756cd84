/* Ends by two clocks (disk-and-secrets.md §17). */
#include "unit/unit.h"

#include "vault/two-clocks.h"

enum { DAY = 86400, T = 1000000 };

static void test_ends(void **state)
{
	(void)state;
	static const struct {
		const char *boot;         /* of now */
		int64_t realtime, uptime; /* seconds since it began */
		int64_t expect;           /* seconds from T */
	} cases[] = {
		{"a", 0, 0, 3600},
		{"a", 600, 600, 3600},
		/* Set back a day after ten minutes: what is left is what was left. */
		{"a", -DAY, 600, -DAY + 3000},
		/* … and when its life is over, it is over. */
		{"a", -DAY, 3600, -DAY},
		{"a", -DAY, 9999, -DAY},
		/* Set forward: the wall clock says so, and it ends earlier. */
		{"a", DAY, 600, 3600},
		/* Asleep: boottime goes on. */
		{"a", 7200, 7200, 3600},
		/* Another boot knows nothing of the age; never more than the whole life. */
		{"b", 600, 10, 3600},
		{"b", -DAY, 9999, -DAY + 3600},
		{"", -DAY, 9999, -DAY + 3600},
		/* A boot that says it is younger is not the same one. */
		{"a", 600, -5, 3600},
	};
	const struct two_clocks begun = {T, 50000, TEXT("a")};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct two_clocks now = {T + cases[i].realtime, 50000 + cases[i].uptime * 1000,
			text_of(cases[i].boot)};
		int64_t got = two_clocks_end(&begun, T + 3600, &now) - T;
		if (got != cases[i].expect)
			fail_msg("case %zu: %lld, not %lld", i, (long long)got,
				(long long)cases[i].expect);
	}
}

static void test_left(void **state)
{
	(void)state;
	static const struct {
		const char *boot;         /* of now */
		int64_t realtime, uptime; /* seconds since it began */
		int64_t expect;           /* milliseconds */
	} cases[] = {
		{"a", 0, 0, 900000},
		{"a", 600, 600, 300000},
		{"a", 900, 900, 0},
		{"a", 901, 901, -1000},
		/* A step of the wall clock, back or forward, is none of its business. */
		{"a", -DAY, 600, 300000},
		{"a", DAY, 600, 300000},
		{"a", -DAY, 1000, -100000},
		{"a", DAY, 899, 1000},
		/* Another boot has only the wall clock. */
		{"b", 600, 10, 300000},
		{"b", DAY, 10, 900000 - INT64_C(1000) * DAY},
		{"", 600, 600, 300000},
		{"a", 600, -5, 300000},
	};
	const struct two_clocks begun = {T, 50000, TEXT("a")};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct two_clocks now = {T + cases[i].realtime, 50000 + cases[i].uptime * 1000,
			text_of(cases[i].boot)};
		int64_t got = two_clocks_left_ms(&begun, T + 900, &now);
		if (got != cases[i].expect)
			fail_msg("case %zu: %lld, not %lld", i, (long long)got,
				(long long)cases[i].expect);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit/unit.h"

#include "base/num.h"

typedef enum num_result parser(struct text t, uint64_t max, uint64_t *ret);

struct row {
	const char *text;
	uint64_t max;
	enum num_result result;
	uint64_t value; /* for NUM_OK and NUM_TOO_LARGE */
};

static void judge(const struct row *row, parser *parse)
{
	uint64_t got = 4711;
	enum num_result r = parse(text_of(row->text), row->max, &got);
	bool has_value = row->result == NUM_OK || row->result == NUM_TOO_LARGE;

	if (r != row->result || (has_value && got != row->value))
		fail_msg("\"%s\": result %d, value %llu", row->text, r, (unsigned long long)got);
}

#define JUDGE(rows, parse) \
	do { \
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) \
			judge(&(rows)[i], parse); \
	} while (0)

static void test_integers(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"0", 10, NUM_OK, 0},
		{"10", 10, NUM_OK, 10},
		{"11", 10, NUM_TOO_LARGE, 10},
		{"1", 0, NUM_TOO_LARGE, 0},
		{"18446744073709551615", UINT64_MAX, NUM_OK, UINT64_MAX},
		{"18446744073709551616", UINT64_MAX, NUM_TOO_LARGE, UINT64_MAX},
		{"18446744073709551616", 5, NUM_TOO_LARGE, 5},
		{"36893488147419103232", UINT64_MAX, NUM_TOO_LARGE, UINT64_MAX},
		{"99999999999999999999999999999999999999999", 7, NUM_TOO_LARGE, 7},
		{"", 10, NUM_EMPTY, 0},
		{"-1", 10, NUM_NEGATIVE, 0},
		{"-0", 10, NUM_NEGATIVE, 0},
		{"-99999999999999999999999", 10, NUM_NEGATIVE, 0},
		{"-", 10, NUM_MALFORMED, 0},
		{"--1", 10, NUM_MALFORMED, 0},
		{"-01", 10, NUM_MALFORMED, 0},
		{"+1", 10, NUM_MALFORMED, 0},
		{"00", 10, NUM_MALFORMED, 0},
		{"01", 10, NUM_MALFORMED, 0},
		{" 1", 10, NUM_MALFORMED, 0},
		{"1 ", 10, NUM_MALFORMED, 0},
		{"1.0", 10, NUM_MALFORMED, 0},
		{"1e3", 10, NUM_MALFORMED, 0},
		{"0x1", 10, NUM_MALFORMED, 0},
		{"1_000", 10, NUM_MALFORMED, 0},
		{"\xef\xbc\x91", 10, NUM_MALFORMED, 0},
	};
	JUDGE(rows, num_parse);
	uint64_t got;
	assert_int_equal(num_parse((struct text){"1\0", 2}, 10, &got), NUM_MALFORMED);
	assert_int_equal(num_parse((struct text){NULL, 0}, 10, &got), NUM_EMPTY);
	assert_int_equal(num_parse((struct text){"12", 1}, 10, &got), NUM_OK);
}

static void test_millis(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"0", 1000, NUM_OK, 0},
		{"0.0", 1000, NUM_OK, 0},
		{"0.0000000000000000000000", 1000, NUM_OK, 0},
		{"0.0000000000000000000001", 1000, NUM_OK, 1},
		{"0.0001", 1000, NUM_OK, 1},
		{"0.0005", 1000, NUM_OK, 1},
		{"0.0014", 1000, NUM_OK, 1},
		{"0.0015", 1000, NUM_OK, 2},
		{"0.00149999", 1000, NUM_OK, 1},
		{"0.5", 1000, NUM_OK, 500},
		{"0.05", 1000, NUM_OK, 50},
		{"1.0005", 2000, NUM_OK, 1001},
		{"1.0004999999999999999999", 2000, NUM_OK, 1000},
		{"1.009", 2000, NUM_OK, 1009},
		{"1.9995", 2000, NUM_OK, 2000},
		{"1.9996", 1999, NUM_TOO_LARGE, 1999},
		{"2", 2000, NUM_OK, 2000},
		{"2.0001", 2000, NUM_OK, 2000},
		{"2.0005", 2000, NUM_TOO_LARGE, 2000},
		{"18446744073709551.615", UINT64_MAX, NUM_OK, UINT64_MAX},
		{"18446744073709551.6155", UINT64_MAX, NUM_TOO_LARGE, UINT64_MAX},
		{"18446744073709552", UINT64_MAX, NUM_TOO_LARGE, UINT64_MAX},
		{"99999999999999999999999999", 8, NUM_TOO_LARGE, 8},
		{"", 1000, NUM_EMPTY, 0},
		{"-1.5", 1000, NUM_NEGATIVE, 0},
		{"-0", 1000, NUM_NEGATIVE, 0},
		{"-0.0", 1000, NUM_NEGATIVE, 0},
		{"-.5", 1000, NUM_MALFORMED, 0},
		{".5", 1000, NUM_MALFORMED, 0},
		{"1.", 1000, NUM_MALFORMED, 0},
		{".", 1000, NUM_MALFORMED, 0},
		{"1.2.3", 1000, NUM_MALFORMED, 0},
		{"01.5", 1000, NUM_MALFORMED, 0},
		{"1,5", 1000, NUM_MALFORMED, 0},
		{"1.5e1", 1000, NUM_MALFORMED, 0},
		{"1.-5", 1000, NUM_MALFORMED, 0},
		{"inf", 1000, NUM_MALFORMED, 0},
		{"nan", 1000, NUM_MALFORMED, 0},
	};
	JUDGE(rows, num_parse_millis);
}

static void test_sizes(void **state)
{
	(void)state;
	enum { TIB = 1 << 20 };
	static const struct row rows[] = {
		{"0", TIB, NUM_OK, 0},
		{"0b", TIB, NUM_OK, 0},
		{"0t", TIB, NUM_OK, 0},
		{"1", TIB, NUM_OK, 1},
		{"512m", TIB, NUM_OK, 512},
		{"512M", TIB, NUM_OK, 512},
		{"1b", TIB, NUM_OK, 1},
		{"1048576b", TIB, NUM_OK, 1},
		{"1048577B", TIB, NUM_OK, 2},
		{"1k", TIB, NUM_OK, 1},
		{"1024k", TIB, NUM_OK, 1},
		{"1025K", TIB, NUM_OK, 2},
		{"2g", TIB, NUM_OK, 2048},
		{"1024g", TIB, NUM_OK, TIB},
		{"1025g", TIB, NUM_TOO_LARGE, TIB},
		{"1t", TIB, NUM_OK, TIB},
		{"1T", TIB, NUM_OK, TIB},
		{"2t", TIB, NUM_TOO_LARGE, TIB},
		{"1048576", TIB, NUM_OK, TIB},
		{"1048577", TIB, NUM_TOO_LARGE, TIB},
		{"1099511627776b", TIB, NUM_OK, TIB},
		{"1099511627777b", TIB, NUM_TOO_LARGE, TIB},
		{"16777216t", TIB, NUM_TOO_LARGE, TIB},
		{"17592186044416t", TIB, NUM_TOO_LARGE, TIB},
		{"18446744073709551616b", TIB, NUM_TOO_LARGE, TIB},
		{"9999999999999999999999999999999t", TIB, NUM_TOO_LARGE, TIB},
		{"9999999999999999999999999999999b", TIB, NUM_TOO_LARGE, TIB},
		{"", TIB, NUM_EMPTY, 0},
		{"-1g", TIB, NUM_NEGATIVE, 0},
		{"-0", TIB, NUM_NEGATIVE, 0},
		{"-16777216t", TIB, NUM_NEGATIVE, 0},
		{"-", TIB, NUM_MALFORMED, 0},
		{"-g", TIB, NUM_MALFORMED, 0},
		{"g", TIB, NUM_MALFORMED, 0},
		{"1 g", TIB, NUM_MALFORMED, 0},
		{"1gb", TIB, NUM_MALFORMED, 0},
		{"1Gi", TIB, NUM_MALFORMED, 0},
		{"1.5g", TIB, NUM_MALFORMED, 0},
		{"01g", TIB, NUM_MALFORMED, 0},
		{"00", TIB, NUM_MALFORMED, 0},
		{"+1g", TIB, NUM_MALFORMED, 0},
		{" 1g", TIB, NUM_MALFORMED, 0},
		{"1p", TIB, NUM_MALFORMED, 0},
	};
	JUDGE(rows, num_parse_size_mb);
}

static enum num_result duration(struct text t, uint64_t max, uint64_t *ret)
{
	(void)max;
	return num_parse_duration_ms(t, ret);
}

static void test_durations(void **state)
{
	(void)state;
	const uint64_t year = UINT64_C(366) * 86400000;
	const struct row rows[] = {
		{"0", 0, NUM_OK, 0},
		{"10", 0, NUM_OK, 10000},
		{"10s", 0, NUM_OK, 10000},
		{"250ms", 0, NUM_OK, 250},
		{"2m", 0, NUM_OK, 120000},
		{"1h", 0, NUM_OK, 3600000},
		{"1d", 0, NUM_OK, 86400000},
		{"366d", 0, NUM_OK, year},
		{"367d", 0, NUM_TOO_LARGE, year},
		{"99999999999999999999d", 0, NUM_TOO_LARGE, year},
		{"18446744073709551615d", 0, NUM_TOO_LARGE, year},
		{"", 0, NUM_EMPTY, 0},
		{"s", 0, NUM_MALFORMED, 0},
		{"01s", 0, NUM_MALFORMED, 0},
		{"1S", 0, NUM_MALFORMED, 0},
		{"1 s", 0, NUM_MALFORMED, 0},
		{"1h30m", 0, NUM_MALFORMED, 0},
		{"1.5h", 0, NUM_MALFORMED, 0},
		{"1w", 0, NUM_MALFORMED, 0},
	};
	JUDGE(rows, duration);
	uint64_t got;
	assert_int_not_equal(num_parse_duration_ms(TEXT("-1s"), &got), NUM_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_integers),
		cmocka_unit_test(test_millis), cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_durations)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

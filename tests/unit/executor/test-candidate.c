#include "unit/unit.h"

#include "base/json.h"
#include "executor/candidate.h"

static json_t *parse(const char *text)
{
	auto_error struct error err = ERROR_INIT;
	json_t *object = json_read(text_of(text), 4096, "candidate", ERROR_USAGE, &err);

	assert_non_null(object);
	return object;
}

static void test_isolates(void **unused)
{
	static const struct text yes[] = {TEXT("container"), TEXT("vm"), TEXT("remote")};
	static const struct text no[] = {TEXT(""), TEXT("none"), TEXT("Container"), TEXT("VM"),
		TEXT(" vm"), TEXT("vm\0"), TEXT("jail"), {NULL, 0}};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		assert_true(candidate_isolates(&(struct candidate){.isolation = yes[i]}));
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		assert_false(candidate_isolates(&(struct candidate){.isolation = no[i]}));
}

static void test_round_trip(void **unused)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *object = parse(
		"{\"id\":\"a\",\"labels\":{\"k\":\"v\"},\"harnesses\":[\"git\",\"x\"],"
		"\"build\":\"\",\"in_flight\":0,\"memory_mb\":7,\"stream\":true,\"arch\":null}");
	AUTO(candidate) c = {0};
	AUTO(candidate) again = {0};

	(void)unused;
	assert_done(candidate_from_json(object, &c, &err), &err);
	assert_true(c.agent && c.load_known && c.stream);
	assert_int_equal(c.n_harnesses, 2);
	assert_int_equal(c.memory_mb, 7);
	auto_json *written = candidate_to_json(&c);
	assert_done(candidate_from_json(written, &again, &err), &err);
	auto_json *rewritten = candidate_to_json(&again);
	assert_true(json_equal(written, rewritten));
}

static void test_absent_claims_nothing(void **unused)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *object = parse("{\"id\":\"a\",\"build\":null,\"in_flight\":null}");
	AUTO(candidate) c = {0};

	(void)unused;
	assert_done(candidate_from_json(object, &c, &err), &err);
	assert_false(c.agent || c.load_known || candidate_isolates(&c) || c.signal);
	assert_true(candidate_ready(&c));
	assert_int_equal(candidate_free_slots(&c), 1 << 30);
}

static void test_refused(void **unused)
{
	static const char *const bad[] = {"[]", "{\"id\":7}", "{\"stream\":\"yes\"}",
		"{\"harnesses\":\"git\"}", "{\"harnesses\":[1]}", "{\"labels\":[]}",
		"{\"labels\":{\"a\":1}}", "{\"unknown\":true}", "{\"memory_mb\":1.5}"};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_error struct error err = ERROR_INIT;
		auto_json *object = parse(bad[i]);
		AUTO(candidate) c = {0};
		assert_int_equal(candidate_from_json(object, &c, &err), -1);
	}
}

static void test_free_slots(void **unused)
{
	struct candidate c = {.max_concurrent = 4, .load_known = true, .in_flight = 3};

	(void)unused;
	assert_int_equal(candidate_free_slots(&c), 1);
	c.in_flight = 9;
	assert_int_equal(candidate_free_slots(&c), 0);
	c.in_flight = INT64_MIN;
	assert_int_equal(candidate_free_slots(&c), 4);
	c.max_concurrent = INT64_MIN;
	assert_int_equal(candidate_free_slots(&c), 1 << 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_isolates),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_absent_claims_nothing),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_free_slots),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

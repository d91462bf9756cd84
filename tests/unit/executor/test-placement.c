/* Properties of placement (sandbox-spec.md §16.5). */
#include "unit/unit.h"

#include <pthread.h>

#include "base/json.h"
#include "executor/placement.h"

enum { N = 5, PERMUTATIONS = 120, THREADS = 16, CALLS = 100 };

static const struct check_policy policy = {.host_execution = true};

static const struct candidate fleet[N] = {
	{.id = TEXT("a"), .isolation = TEXT("container"), .stream = true, .memory_mb = 512},
	{.id = TEXT("b"), .isolation = TEXT("vm"), .stream = true, .health = TEXT("degraded")},
	{.id = TEXT("c"),
		.isolation = TEXT("none"),
		.stream = true,
		.max_concurrent = 2,
		.load_known = true,
		.in_flight = 1},
	{.id = TEXT("d"), .isolation = TEXT("remote"), .agent = true, .build = TEXT("v1.2.3")},
	{.id = TEXT("e"),
		.isolation = TEXT("remote"),
		.agent = true,
		.build = TEXT("junk"),
		.stream = true},
};

static const struct requirement wishes[] = {
	{.stream = false},
	{.stream = true},
	{.isolation_required = true},
	{.forbid_degraded = true, .stream = true, .min_memory_mb = 1024},
	{.signal = true},
	{.virtualization = true, .stream = true},
	{.executor_id = "c"},
};

/* The answer as text: who was chosen, or the whole refusal. */
static char *answer(const struct candidate *c, size_t n, const struct requirement *need)
{
	auto_error struct error err = ERROR_INIT;
	const struct candidate *chosen;

	if (placement_choose(&policy, c, n, need, &chosen, &err) == 0) {
		auto_json *id = json_from_bytes(chosen->id);
		return json_dumps(id, JSON_ENCODE_ANY);
	}
	auto_json *envelope = error_to_json(&err);
	return json_dumps(envelope, 0);
}

/* The k-th permutation of the fleet. */
static void permute(size_t k, struct candidate out[N])
{
	size_t left[N] = {0, 1, 2, 3, 4};

	for (size_t i = 0, n = N; n > 0; i++, n--) {
		size_t at = k % n;
		k /= n;
		out[i] = fleet[left[at]];
		memmove(&left[at], &left[at + 1], (n - at - 1) * sizeof(left[0]));
	}
}

static void test_order_does_not_matter(void **unused)
{
	(void)unused;
	for (size_t w = 0; w < ARRAY_SIZE(wishes); w++) {
		auto_free char *expected = answer(fleet, N, &wishes[w]);
		for (size_t k = 0; k < PERMUTATIONS; k++) {
			struct candidate list[N];
			permute(k, list);
			auto_free char *got = answer(list, N, &wishes[w]);
			assert_string_equal(got, expected);
		}
	}
}

static void *call_often(void *data)
{
	const struct candidate *list = data;

	for (int i = 0; i < CALLS; i++)
		for (size_t w = 0; w < ARRAY_SIZE(wishes); w++) {
			auto_free char *got = answer(list, N, &wishes[w]);
			auto_free char *expected = answer(fleet, N, &wishes[w]);
			if (strcmp(got, expected) != 0)
				return data;
		}
	return NULL;
}

static void test_threads_agree(void **unused)
{
	pthread_t threads[THREADS];
	struct candidate shared[N];

	(void)unused;
	memcpy(shared, fleet, sizeof(shared));
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call_often, shared), 0);
	for (size_t i = 0; i < THREADS; i++) {
		void *wrong;
		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	assert_memory_equal(shared, fleet, sizeof(shared));
}

static const struct candidate *choose(
	const struct candidate *a, const struct candidate *b, const struct requirement *need)
{
	auto_error struct error err = ERROR_INIT;
	const struct candidate list[] = {*a, *b};
	const struct candidate *chosen;

	assert_done(placement_choose(&policy, list, 2, need, &chosen, &err), &err);
	return chosen == &list[0] ? a : b;
}

/* Each better than the next, for one reason each; ids are the other way round. */
static void test_ranking(void **unused)
{
	static const struct candidate best_first[] = {
		{.id = TEXT("z"), .isolation = TEXT("vm")},
		{.id = TEXT("y"), .isolation = TEXT("vm"), .agent = true, .build = TEXT("v1.10.0")},
		{.id = TEXT("x"), .isolation = TEXT("vm"), .agent = true, .build = TEXT("v1.9.0")},
		{.id = TEXT("w"), .isolation = TEXT("vm"), .agent = true, .build = TEXT("")},
		{.id = TEXT("v"), .isolation = TEXT("none")},
		{.id = TEXT("u"), .isolation = TEXT("vm"), .max_concurrent = 9, .load_known = true},
		{.id = TEXT("t"),
			.isolation = TEXT("vm"),
			.max_concurrent = 9,
			.load_known = true,
			.in_flight = 8},
		{.id = TEXT("s"), .isolation = TEXT("vm"), .health = TEXT("degraded")},
	};
	static const struct requirement nothing;

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(best_first); i++)
		for (size_t k = i + 1; k < ARRAY_SIZE(best_first); k++) {
			const struct candidate *a = &best_first[i], *b = &best_first[k];
			assert_ptr_equal(choose(a, b, &nothing), a);
			assert_ptr_equal(choose(b, a, &nothing), a);
		}
}

static void test_refusal_names_everyone(void **unused)
{
	auto_error struct error err = ERROR_INIT;
	const struct candidate *chosen = NULL;
	struct requirement need = {.labels = &(struct requirement_label){"k", "v"}, .n_labels = 1};

	(void)unused;
	assert_int_equal(placement_choose(&policy, fleet, N, &need, &chosen, &err), -1);
	assert_null(chosen);
	assert_int_equal(err.code, ERROR_NO_PLACEMENT);
	assert_string_equal(json_get_string(err.details, "constraint"), "labels");
	json_t *rejections = json_object_get(err.details, "rejections");
	assert_int_equal(json_array_size(rejections), N);
	for (size_t i = 0; i < N; i++)
		assert_true(json_get_text(json_array_get(rejections, i), "detail").len > 0);
	assert_non_null(strstr(err.message, "5 executors"));
}

/* Who was chosen is not among those that were rejected, and nobody else is missing. */
static void test_rejections(void **unused)
{
	(void)unused;
	for (size_t w = 0; w < ARRAY_SIZE(wishes); w++) {
		auto_error struct error err = ERROR_INIT;
		const struct candidate *chosen = NULL;
		auto_json *list = placement_rejections(&policy, fleet, N, &wishes[w]);
		if (placement_choose(&policy, fleet, N, &wishes[w], &chosen, &err) < 0) {
			assert_true(json_equal(list, json_object_get(err.details, "rejections")));
			continue;
		}
		assert_true(json_array_size(list) < N);
		for (size_t i = 0; i < json_array_size(list); i++) {
			const json_t *r = json_array_get(list, i);
			assert_false(text_is(chosen->id, json_get_string(r, "executor_id")));
			assert_true(json_get_string(r, "detail")[0]);
		}
	}
}

/* What cannot be used says why, and the way out belongs to the headline. */
static void test_words(void **unused)
{
	auto_error struct error err = ERROR_INIT;
	const struct candidate *chosen;
	static const struct requirement nothing;
	const struct candidate down = {
		.id = TEXT("a"),
		.isolation = TEXT("container"),
		.health = TEXT("unreachable"),
		.health_reason = TEXT("podman is not\ninstalled"),
	};

	(void)unused;
	assert_int_equal(placement_choose(&policy, &down, 1, &nothing, &chosen, &err), -1);
	assert_non_null(strstr(err.message, "podman is not\\x0ainstalled"));
	assert_non_null(strstr(error_remedy(&err), "cloop executor test"));
	for (enum constraint c = 0; c < CONSTRAINT_COUNT; c++) {
		auto_free char *way = constraint_way_out(c);
		const char *key = constraint_file_key(c);
		assert_true(way[0]);
		assert_true(!key || strstr(way, key));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_does_not_matter),
		cmocka_unit_test(test_threads_agree),
		cmocka_unit_test(test_ranking),
		cmocka_unit_test(test_refusal_names_everyone),
		cmocka_unit_test(test_rejections),
		cmocka_unit_test(test_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

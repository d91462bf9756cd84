/* Properties of effective limits (sandbox-spec.md §16.4) over random inputs. */
#include "unit/unit.h"

#include "limits/effective.h"

enum { ROUNDS = 20000 };

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Small numbers, so that values meet; often 0. */
static uint64_t amount(void)
{
	return next() % 3 == 0 ? 0 : next() % 8;
}

static struct limits random_limits(void)
{
	return (struct limits){amount(), amount(), amount(), amount()};
}

static struct effective_input random_input(void)
{
	static const char *const words[] = {"sampled", "quota", "eviction", "", "Sampled", "no"};
	struct effective_input in = {
		.caller = random_limits(),
		.spec = random_limits(),
		.resource_limits = next() % 4 > 0,
		.pids_limit = next() % 4 > 0,
		.disk_enforcement = text_of(words[next() % ARRAY_SIZE(words)]),
	};

	for (enum resource r = 0; r < RESOURCE_COUNT; r++)
		in.defaults[r] = (int64_t)amount() - 1;
	for (enum ceiling c = 0; c < CEILING_COUNT; c++)
		in.ceilings[c] = random_limits();
	return in;
}

static uint64_t unlimited_if_zero(uint64_t v)
{
	return v == 0 ? UINT64_MAX : v;
}

static bool held(const struct effective_input *in, enum resource r)
{
	if (r == RESOURCE_DISK)
		return effective_disk_enforced(in->disk_enforcement);
	return r == RESOURCE_PIDS ? in->pids_limit : in->resource_limits;
}

static void check_bounds(const struct effective_input *in, const struct effective *e)
{
	for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
		uint64_t v = resource_get(&e->limits, r);
		uint64_t asked[] = {resource_get(&in->caller, r), resource_get(&in->spec, r)};

		if (!held(in, r)) {
			assert_int_equal(v, 0);
			assert_int_equal(e->source[r], EFFECTIVE_FROM_NONE);
			continue;
		}
		for (enum ceiling c = 0; c < CEILING_COUNT; c++)
			assert_true(unlimited_if_zero(v) <=
				    unlimited_if_zero(resource_get(&in->ceilings[c], r)));
		for (size_t i = 0; i < ARRAY_SIZE(asked); i++)
			assert_true(unlimited_if_zero(v) <= unlimited_if_zero(asked[i]));
		assert_int_equal(v == 0, e->source[r] == EFFECTIVE_FROM_NONE);
	}
}

static void test_bounds(void **unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		struct effective_input in = random_input();
		struct effective e;
		effective_limits(&in, &e);
		check_bounds(&in, &e);
	}
}

static void test_adding_a_ceiling_never_raises(void **unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		struct effective_input in = random_input();
		struct effective before, after;
		enum ceiling c = (enum ceiling)(next() % CEILING_COUNT);
		enum resource added = (enum resource)(next() % RESOURCE_COUNT);

		resource_set(&in.ceilings[c], added, 0);
		effective_limits(&in, &before);
		resource_set(&in.ceilings[c], added, amount());
		effective_limits(&in, &after);
		for (enum resource r = 0; r < RESOURCE_COUNT; r++)
			assert_true(unlimited_if_zero(resource_get(&after.limits, r)) <=
				    unlimited_if_zero(resource_get(&before.limits, r)));
	}
}

/* Each clamp starts where the one before it of the same resource ended; the last is the result. */
static void test_clamps_are_a_chain(void **unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		struct effective_input in = random_input();
		struct effective e;
		uint64_t at[RESOURCE_COUNT];

		effective_limits(&in, &e);
		for (enum resource r = 0; r < RESOURCE_COUNT; r++)
			at[r] = resource_get(&e.requested, r);
		for (size_t k = 0; k < e.n_clamps; k++) {
			const struct effective_clamp *c = &e.clamps[k];
			assert_int_equal(c->requested, at[c->resource]);
			assert_true(c->effective < c->requested);
			at[c->resource] = c->effective;
			if (k > 0)
				assert_true(c[-1].source < c->source ||
					    (c[-1].source == c->source &&
						    c[-1].resource < c->resource));
		}
		for (enum resource r = 0; r < RESOURCE_COUNT; r++)
			if (resource_get(&e.requested, r) > 0)
				assert_int_equal(at[r], resource_get(&e.limits, r));
	}
}

static void test_names(void **unused)
{
	(void)unused;
	for (enum effective_source s = 0; s < EFFECTIVE_FROM_COUNT; s++)
		assert_int_equal(effective_source_from_text(text_of(effective_source_text(s))), s);
	for (enum resource r = 0; r < RESOURCE_COUNT; r++)
		assert_int_equal(resource_from_text(text_of(resource_text(r))), r);
	for (enum ceiling c = 0; c < CEILING_COUNT; c++)
		assert_int_equal(ceiling_from_text(text_of(ceiling_text(c))), c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_adding_a_ceiling_never_raises),
		cmocka_unit_test(test_clamps_are_a_chain),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

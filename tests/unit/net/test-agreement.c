/*
 * What is evaluated, what nft would do and what a NetworkPolicy would do are the same (network.md
 * §17.1): random filters, random packets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "unit/net/random-filter.h"

enum { FILTERS = 800, PROBES = 50 };

static void test_agreement(void **state)
{
	struct random r = {.state = 20261129};
	size_t judged = 0, allowed = 0, tried = 0;

	(void)state;
	while (judged < FILTERS * PROBES) {
		auto_error struct error err = ERROR_INIT;
		AUTO(egress_filter) f;
		AUTO(egress_policy) p = {.n_rules = 0};
		struct readings readings;
		assert_true(tried++ < 100 * FILTERS);
		random_filter(&r, &f);
		if (egress_policy_compile(&f, &p, &err) < 0)
			continue;
		readings_make(&p, &readings);
		for (int i = 0; i < PROBES; i++, judged++) {
			struct egress_probe probe = random_probe(&r, &p);
			assert_string_equal(readings_disagree(&p, &readings, &probe), "");
			allowed += reader_evaluate(&p, &probe, EGRESS_WIRE);
		}
		readings_done(&readings);
	}
	/* Neither answer is rare, or the test would say little. */
	assert_true(allowed > judged / 20 && allowed < judged / 2);
}

/* Drops of the deny list, translation forms and carved services outlast any further allow. */
static void test_more_allowed_opens_no_drop(void **state)
{
	struct random r = {.state = 7};

	(void)state;
	for (int i = 0; i < 400; i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(egress_filter) f;
		AUTO(egress_policy) before = {.n_rules = 0};
		AUTO(egress_policy) after = {.n_rules = 0};
		random_filter(&r, &f);
		if (egress_policy_compile(&f, &before, &err) < 0)
			continue;
		random_cidrs(&r, &f.allow_cidrs, 4);
		f.allow_public_internet = true;
		if (egress_policy_compile(&f, &after, &err) < 0)
			continue;
		for (int j = 0; j < PROBES; j++) {
			struct egress_probe probe = random_probe(&r, &before);
			const struct egress_rule *rule =
				egress_evaluate(&before, &probe, EGRESS_WIRE);
			if (rule &&
				(rule->stage == EGRESS_DENIED || rule->stage == EGRESS_TRANSLATION))
				assert_false(reader_evaluate(&after, &probe, EGRESS_WIRE));
		}
	}
}

/* Whatever passes when the configuration is loaded compiles, with no metadata service carved. */
static void test_loaded_compiles(void **state)
{
	struct random r = {.state = 99};
	size_t loaded = 0;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(egress_filter) f;
		AUTO(egress_policy) at_load = {.n_rules = 0};
		AUTO(egress_policy) p = {.n_rules = 0};
		random_filter(&r, &f);
		if (egress_policy_load(&f, &at_load, &err) < 0)
			continue;
		loaded++;
		assert_int_equal(egress_policy_of(&f, &p, &err), 0);
		for (size_t j = 0; j < p.n_warnings; j++)
			assert_int_not_equal(p.warnings[j].code, EGRESS_METADATA_CARVED);
	}
	assert_true(loaded > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agreement),
		cmocka_unit_test(test_more_allowed_opens_no_drop),
		cmocka_unit_test(test_loaded_compiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

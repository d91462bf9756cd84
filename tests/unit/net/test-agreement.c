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

/* The filter names the address itself: as a range of one, a broker, a proxy or a resolver. */
static bool named(const struct egress_filter *f, const struct address *a)
{
	const struct strv *lists[] = {&f->allow_cidrs, &f->resolvers, &f->proxies};
	char host[CIDR_TEXT_SIZE], at[CIDR_TEXT_SIZE + 2], text[INET6_ADDRSTRLEN];
	struct cidr c = cidr_host(a);

	cidr_text(&c, host);
	address_text(a, text);
	snprintf(at, sizeof(at), a->family == AF_INET6 ? "[%s]:" : "%s:", text);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		strv_foreach (item, lists[i])
			if (strcmp(*item, host) == 0 || text_starts(text_of(*item), at))
				return true;
	return f->broker && text_starts(text_of(f->broker), at);
}

/* Metadata services and translation forms are open to nobody who does not name them. */
static void test_closed_unless_named(void **state)
{
	struct random r = {.state = 31};
	size_t n, n_forms, judged = 0;
	const struct special_block *blocks = special_address_blocks(&n);
	const struct special_block *forms = special_address_translations(&n_forms);

	(void)state;
	for (int i = 0; i < 2000; i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(egress_filter) f;
		AUTO(egress_policy) p = {.n_rules = 0};
		random_filter(&r, &f);
		if (egress_policy_compile(&f, &p, &err) < 0)
			continue;
		for (size_t j = 0; j < n + n_forms; j++) {
			const struct special_block *b = j < n ? &blocks[j] : &forms[j - n];
			struct egress_probe probe = {b->address, EGRESS_TCP, 443};
			if (b->class != SPECIAL_METADATA && j < n)
				continue;
			probe.address.bytes[15] ^=
				b->bits < 128 ? (unsigned char)random_next(&r) : 0;
			if (p.n_ports > 0)
				probe.port = p.ports[random_below(&r, (uint32_t)p.n_ports)];
			if (named(&f, &probe.address))
				continue;
			assert_false(reader_evaluate(&p, &probe, EGRESS_WIRE));
			judged++;
		}
	}
	assert_true(judged > 5000);
}

/* Whatever passes when the configuration is loaded compiles, with no metadata service carved. */
static void test_loaded_compiles(void **state)
{
	struct random r = {.state = 99};
	size_t loaded = 0;

	(void)state;
	for (int i = 0; i < 30000; i++) {
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
	assert_true(loaded >= 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agreement),
		cmocka_unit_test(test_more_allowed_opens_no_drop),
		cmocka_unit_test(test_closed_unless_named),
		cmocka_unit_test(test_loaded_compiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

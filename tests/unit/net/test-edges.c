/* What the public cases leave open: texts, edges of grammars, pools, plans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/egress-evaluate.h"
#include "net/host-pattern.h"
#include "net/network-plan.h"
#include "net/nft-script.h"
#include "net/subnet-pool.h"

static void test_addresses(void **state)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {
		{"::10.0.0.1", "::a00:1"},
		{"::5", "::5"},
		{"::", "::"},
		{"::ffff:1.2.3.4", "::ffff:1.2.3.4"},
		{"2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
		{"1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"},
		{"::1.2.0.0", "::102:0"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[INET6_ADDRSTRLEN];
		struct address a;
		assert_true(address_parse(text_of(rows[i].text), &a));
		address_text(&a, text);
		assert_string_equal(text, rows[i].wanted);
	}
}

static void test_probes(void **state)
{
	static const struct {
		const char *text, *wanted; /* NULL: refused */
	} rows[] = {
		{"10.0.0.1:80", "10.0.0.1:80/tcp"},
		{"10.0.0.1:80/tcp", "10.0.0.1:80/tcp"},
		{"[FD00::1]:53/udp", "[fd00::1]:53/udp"},
		{"[::ffff:10.0.0.1]:53/udp", "10.0.0.1:53/udp"},
		{"10.0.0.1/icmp", "10.0.0.1/icmp"},
		{"fd00::1/icmp", "fd00::1/icmp"},
		{"[fd00::1]/icmp", "fd00::1/icmp"},
		{"10.0.0.1", NULL},
		{"10.0.0.1/tcp", NULL},
		{"10.0.0.1:80/icmp", NULL},
		{"10.0.0.1:80/any", NULL},
		{"10.0.0.1:80/TCP", NULL},
		{"10.0.0.1:80/", NULL},
		{"10.0.0.1:0", NULL},
		{"10.0.0.1:080", NULL},
		{"10.0.0.1:65536", NULL},
		{"fd00::1:80", NULL},
		{"[10.0.0.1]:80", NULL},
		{"[10.0.0.1]/icmp", NULL},
		{"host:80", NULL},
		{" 10.0.0.1:80", NULL},
		{"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[EGRESS_PROBE_SIZE];
		struct egress_probe p;
		bool good = egress_evaluate_read(text_of(rows[i].text), &p);
		if (good != (rows[i].wanted != NULL))
			fail_msg("%s", rows[i].text);
		if (!good)
			continue;
		egress_evaluate_text(&p, text);
		assert_string_equal(text, rows[i].wanted);
	}
}

static void test_hosts(void **state)
{
	static const struct {
		const char *text, *wanted; /* NULL: refused */
	} rows[] = {
		{"\t*\t", "*"},
		{"*.", NULL},
		{".", NULL},
		{"a..", NULL},
		{"::FFFF:1.2.3.4", "1.2.3.4"},
		{"[1.2.3.4]", NULL},
		{"[fe80::1%eth0]", NULL},
		{"0x", NULL},
		{"a.0xG", "a.0xg"},
		{"a.0xf", NULL},
		{"1.2.3.4.", "1.2.3.4"},
		{"a.1", NULL},
		{"1.a", "1.a"},
		{"_", "_"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		char out[HOST_PATTERN_SIZE];
		bool good = host_pattern_parse(text_of(rows[i].text), out, &err) == 0;
		if (good != (rows[i].wanted != NULL))
			fail_msg("%s", rows[i].text);
		if (good)
			assert_string_equal(out, rows[i].wanted);
	}
	assert_true(host_pattern_matches("*.a", "b.a"));
	assert_false(host_pattern_matches("*.a", ".a"));
}

static void test_host_lengths(void **state)
{
	auto_error struct error err = ERROR_INIT;
	char out[HOST_PATTERN_SIZE];
	/* 253 bytes: three labels of 63 and one of 61. */
	auto_free char *name = mem_printf("%063d.%063d.%063d.a%060d", 0, 0, 0, 0);
	auto_free char *below = mem_printf("*.%s.", name);
	auto_free char *longer = mem_printf("%s0", name);

	(void)state;
	assert_int_equal(strlen(name), HOST_NAME_MAX_BYTES);
	assert_int_equal(host_pattern_parse(text_of(name), out, &err), 0);
	assert_int_equal(host_pattern_parse(text_of(below), out, &err), 0);
	assert_int_equal(strlen(out), HOST_NAME_MAX_BYTES + 2);
	assert_int_equal(host_pattern_parse(text_of(longer), out, &err), -1);
}

static void test_pools(void **state)
{
	static const struct {
		const char *pool, *pool6;
		bool good;
	} rows[] = {
		{NULL, NULL, true},
		{"10.0.0.0/8", "fd00::/48", true},
		{"100.64.0.0/28", NULL, true},
		{"10.0.0.0/29", NULL, false},
		{"10.0.0.0/7", NULL, false},
		{"100.0.0.0/8", NULL, false},
		{"9.0.0.0/16", NULL, false},
		{"fd00::/48", NULL, false},
		{NULL, "fd00::/64", false},
		{NULL, "2001:db8::/48", false},
		{NULL, "10.0.0.0/8", false},
		{"x", NULL, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(egress_filter) f;
		egress_filter_init(&f);
		mem_set_string(&f.subnet_pool, rows[i].pool);
		mem_set_string(&f.subnet_pool6, rows[i].pool6);
		if ((subnet_pool_check(&f, &err) == 0) != rows[i].good)
			fail_msg("row %zu", i);
	}
}

static void test_comment_bytes(void **state)
{
	char out[NFT_COMMENT_MAX + 1];
	auto_free char *long_text = mem_printf("%0118d\xc3\xa9", 0);

	(void)state;
	nft_script_comment(TEXT("a\xff"
				"b\xc2\x85"
				"c\x7f"),
		out);
	assert_string_equal(out, "a b c");
	nft_script_comment((struct text){"a\0b", 3}, out);
	assert_string_equal(out, "a b");
	nft_script_comment(text_of(long_text), out);
	assert_int_equal(strlen(out), NFT_COMMENT_MAX);
	assert_string_equal(out + 118, "\xc3\xa9");
}

/* A public scope with a filter that has faults of its own. */
static void test_plan_faults(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_filter) f;
	AUTO(network_plan) p = {.kind = NETWORK_PLAN_NONE};
	struct network_plan_request q = {.network = TEXT("bridge"),
		.filter = &f,
		.nft = true,
		.grant = true,
		.egress = TEXT("public")};

	(void)state;
	egress_filter_init(&f);
	assert_int_equal(strv_add(&f.resolvers, "9.9.9.9"), 0);
	assert_int_equal(strv_add(&f.deny_cidrs, "x"), 0);
	assert_int_equal(network_plan_make(&q, &p, &err), -1);
	assert_int_equal(err.code, ERROR_EGRESS_CIDR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_host_lengths),
		cmocka_unit_test(test_pools),
		cmocka_unit_test(test_comment_bytes),
		cmocka_unit_test(test_plan_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

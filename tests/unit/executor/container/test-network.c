/* Networks of runs: what is swept, the lines of the engine, preflight's rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "executor/container/decisions/network-sweep.h"
#include "executor/container/network/network-line.h"
#include "executor/container/preflight-network.h"

#define NOW 1800000000000000000LL
#define OLD "2027-01-15T07:50:00Z"   /* 600 s before */
#define YOUNG "2027-01-15T07:50:01Z" /* 599 s before */

static void test_sweep(void **state)
{
	static const struct {
		const char *managed, *home, *created;
		bool used, live, removed;
	} rows[] = {
		{"true", "me", OLD, false, false, true},
		{"true", "me", YOUNG, false, false, false},
		{"true", "me", OLD, true, false, false},
		{"true", "me", OLD, false, true, false},
		{"true", "you", OLD, false, false, false},
		{"yes", "me", OLD, false, false, false},
		{NULL, "me", OLD, false, false, false},
		{"true", NULL, OLD, false, false, false},
		{"true", "me", "", false, false, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct network_sweep_input in = {
			.managed = text_of(rows[i].managed),
			.home = text_of(rows[i].home),
			.created = text_of(rows[i].created),
			.my_home = TEXT("me"),
			.used = rows[i].used,
			.run_live = rows[i].live,
			.now_ns = NOW,
		};
		if (network_sweep_removes(&in) != rows[i].removed)
			fail_msg("row %zu", i);
	}
	assert_true(network_sweep_removes_table(TEXT("cloop me n"), TEXT("me"), false));
	assert_false(network_sweep_removes_table(TEXT("cloop me n"), TEXT("me"), true));
	assert_false(network_sweep_removes_table(TEXT("cloop you n"), TEXT("me"), false));
	assert_false(network_sweep_removes_table(TEXT("me n"), TEXT("me"), false));
	assert_true(network_sweep_another_home(TEXT("cloop you n"), TEXT("me")));
	assert_false(network_sweep_another_home(TEXT("cloop me n"), TEXT("me")));
	assert_false(network_sweep_another_home(TEXT(""), TEXT("me")));
}

static void test_lines(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) words = STRV_INIT(NETWORK_LINE_WORDS_MAX);
	struct subnet_choice c;
	struct subnet s;
	const struct subnet_pools pools = {.ipv6 = true};
	struct network_line line = {ENGINE_PODMAN, "n", "h", "e", "isolated", "c", true};

	(void)state;
	assert_int_equal(subnet_choice_begin(&pools, SUBNET_RUN_BITS, 0, &c, &err), 0);
	assert_true(subnet_choice_next(&c, (struct cidr_list){NULL, 0}, &s));
	network_line_create(&line, &s, &words);
	auto_free char *text = strv_join(&words, " ");
	assert_string_equal(text,
		"network create --driver=bridge --internal --disable-dns --subnet=10.213.0.0/28 "
		"--gateway=10.213.0.1 --ipv6 --subnet=fd63:6c6f:6f70::/64 "
		"--gateway=fd63:6c6f:6f70::1 --label=cloop.managed=true --label=cloop.executor=e "
		"--label=cloop.home=h --label=cloop.egress=isolated --label=cloop.handle=c n");
}

static void test_answers(void **state)
{
	static const struct {
		const char *words;
		bool unknown, exists, overlap;
	} rows[] = {
		{"Error: unable to find network with name or ID n: network not found", true, false,
			false},
		{"Error: No such network: n", true, false, false},
		{"Error response from daemon: network n not found", true, false, false},
		{"Error: network name n already used: network already exists", false, true, false},
		{"Error response from daemon: network with name n already exists", false, true,
			false},
		{"Error: subnet 10.0.0.0/28 is already used on the host or by another config",
			false, false, true},
		{"Error response from daemon: Pool overlaps with other one on this address space",
			false, false, true},
		{"Cannot connect to the Docker daemon", false, false, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text t = text_of(rows[i].words);
		if (network_line_says_unknown(t) != rows[i].unknown ||
			network_line_says_exists(t) != rows[i].exists ||
			network_line_says_overlap(t) != rows[i].overlap)
			fail_msg("%s", rows[i].words);
	}
}

static void check_rows(const struct preflight_facts *f, const char *wanted)
{
	AUTO(preflight_report) r = {.n = 0};
	AUTO(str) out = STR_INIT(1024);

	preflight_network_judge(f, &r);
	for (size_t i = 0; i < r.n; i++)
		str_addf(&out, "%s %s;", r.v[i].name, preflight_level_text(r.v[i].level));
	assert_string_equal(str_text(&out), wanted);
}

static void test_preflight(void **state)
{
	AUTO(egress_filter) filter;
	struct preflight_facts f = {.engine = ENGINE_PODMAN,
		.filter = &filter,
		.network_none = true,
		.egress_enabled = true,
		.egress_program = true};

	(void)state;
	egress_filter_init(&filter);
	check_rows(&f, "egress ok;egress-proxy ok;");
	f.network_none = false;
	check_rows(&f, "egress warn;egress-proxy ok;");
	f.egress_no_route = "no route";
	check_rows(&f, "egress warn;egress-proxy warn;");
	f.egress_no_route = NULL;
	f.egress_program = false;
	check_rows(&f, "egress warn;egress-proxy warn;");
	f.egress_program = true;
	f.egress_enabled = false;
	check_rows(&f, "egress warn;egress-proxy warn;");
	f.egress_enabled = true;
	f.rootless = true;
	check_rows(&f, "egress warn;egress-proxy ok;rootless-network fail;");
	f.rootless = false;
	filter.enabled = true;
	filter.allow_public_internet = true;
	check_rows(&f, "egress fail;egress-proxy ok;");
	assert_int_equal(strv_add(&filter.allow_ports, "443"), 0);
	check_rows(&f, "egress fail;egress-proxy ok;");
	f.nft = true;
	check_rows(&f, "egress ok;egress-scope warn;egress-scope warn;egress-proxy ok;");
	assert_true(preflight_network_ready(&f));
	f.rootless = f.tun = true;
	check_rows(&f, "egress fail;egress-proxy ok;");
	assert_false(preflight_network_ready(&f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_preflight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

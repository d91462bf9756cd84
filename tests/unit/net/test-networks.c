/* Networks of runs: subnets, whose a network is, what nft lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "net/egress-filter-json.h"
#include "net/engine-network.h"
#include "net/network-name.h"
#include "net/nft-listing.h"
#include "net/subnet-choice.h"

static struct cidr range(const char *text)
{
	auto_error struct error err = ERROR_INIT;
	struct cidr c;

	assert_int_equal(cidr_parse(text_of(text), &c, &err), 0);
	return c;
}

static struct subnet_choice choice(const struct subnet_pools *pools, unsigned bits, uint32_t seed)
{
	auto_error struct error err = ERROR_INIT;
	struct subnet_choice c;

	assert_int_equal(subnet_choice_begin(pools, bits, seed, &c, &err), 0);
	return c;
}

static void check_next(struct subnet_choice *c, struct cidr_list taken, const char *wanted,
	const char *gateway, const char *wanted6)
{
	char text[CIDR_TEXT_SIZE], at[INET6_ADDRSTRLEN];
	struct subnet s;

	assert_int_equal(subnet_choice_next(c, taken, &s), wanted != NULL);
	if (!wanted)
		return;
	cidr_text(&s.range, text);
	assert_string_equal(text, wanted);
	address_text(&s.gateway, at);
	assert_string_equal(at, gateway);
	assert_int_equal(s.ipv6, wanted6 != NULL);
	cidr_text(&s.range6, text);
	if (wanted6)
		assert_string_equal(text, wanted6);
}

static void test_subnets(void **state)
{
	const struct subnet_pools own = {.ipv6 = true}, small = {.pool = "10.9.0.0/27"};
	const struct cidr_list none = {NULL, 0};
	const struct cidr used[] = {range("0.0.0.0/0"), range("10.9.0.1/32"), range("::/0")};
	const struct cidr_list taken = {used, ARRAY_SIZE(used)};

	(void)state;
	struct subnet_choice c = choice(&own, SUBNET_RUN_BITS, 4095);
	check_next(&c, none, "10.213.255.240/28", "10.213.255.241", "fd63:6c6f:6f70:fff::/64");
	check_next(&c, none, "10.213.0.0/28", "10.213.0.1", "fd63:6c6f:6f70::/64");
	c = choice(&own, SUBNET_SHARED_BITS, 0x01020304);
	check_next(&c, none, "10.213.4.0/24", "10.213.4.1", "fd63:6c6f:6f70:4::/64");
	c = choice(&small, SUBNET_RUN_BITS, 0);
	check_next(&c, taken, "10.9.0.16/28", "10.9.0.17", NULL);
	check_next(&c, taken, NULL, NULL, NULL);
	/* A pool that is smaller than a shared network gives what it has. */
	c = choice(&small, SUBNET_SHARED_BITS, 7);
	check_next(&c, none, "10.9.0.0/27", "10.9.0.1", NULL);
	check_next(&c, none, NULL, NULL, NULL);
}

static void test_tries_end(void **state)
{
	const struct subnet_pools own = {.ipv6 = false};
	const struct cidr all = range("10.0.0.0/8"), far = range("fd63:6c6f:6f70::/48");
	const struct subnet_pools six = {.ipv6 = true};
	struct subnet_choice c = choice(&own, SUBNET_RUN_BITS, 5);

	(void)state;
	check_next(&c, (struct cidr_list){&all, 1}, NULL, NULL, NULL);
	assert_int_equal(c.tried, SUBNET_TRIES_MAX);
	c = choice(&six, SUBNET_RUN_BITS, 5);
	check_next(&c, (struct cidr_list){&far, 1}, NULL, NULL, NULL);
}

static void test_seed(void **state)
{
	(void)state;
	/* SHA-256 of "abc" begins ba7816bf. */
	assert_int_equal(network_name_seed("abc"), 0xba7816bf);
}

static void test_owner(void **state)
{
	static const struct {
		const char *document;
		bool podman, ours;
	} rows[] = {
		{"{'name':'n','labels':{'cloop.home':'h','cloop.executor':'e','cloop.handle':'c'}}",
			true, true},
		{"{'Name':'n','Labels':{'cloop.home':'h','cloop.executor':'e','cloop.handle':'c'}}",
			false, true},
		{"{'name':'n','labels':{'cloop.home':'x','cloop.executor':'e','cloop.handle':'c'}}",
			true, false},
		{"{'name':'n','labels':{'cloop.home':'h','cloop.executor':'e'}}", true, false},
		{"{'name':'n','labels':{'cloop.home':'h','cloop.executor':'e','cloop.handle':'c'},"
		 "'internal':true}",
			true, false},
		{"{'name':'n'}", true, false},
		{"[]", true, false},
	};
	const struct engine_network_owner me = {.home = "h", .executor = "e", .handle = "c"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		auto_free char *text = mem_strdup(rows[i].document);
		for (char *p = text; *p; p++)
			*p = *p == '\'' ? '"' : *p;
		auto_json *document = json_loads(text, 0, NULL);
		assert_non_null(document);
		int r = engine_network_check_owner(
			rows[i].podman ? ENGINE_NETWORK_PODMAN : ENGINE_NETWORK_DOCKER, document,
			&me, &err);
		if ((r == 0) != rows[i].ours)
			fail_msg("%s", rows[i].document);
		if (r < 0)
			assert_int_equal(err.code, ERROR_EGRESS_NETWORK_CONFLICT);
	}
	const struct engine_network_owner shared = {.home = "h", .executor = "e"};
	auto_error struct error err = ERROR_INIT;
	auto_json *document = json_pack("{s:{s:s, s:s, s:s}}", "labels", "cloop.home", "h",
		"cloop.executor", "e", "cloop.handle", "c");
	assert_int_equal(
		engine_network_check_owner(ENGINE_NETWORK_PODMAN, document, &shared, &err), -1);
}

/* The same rules with other handles and counters are the same; another rule is not. */
static void test_fingerprint(void **state)
{
	static const char *const same[] = {
		"{\"nftables\": [{\"metainfo\": {\"version\": \"1\"}}, {\"rule\": {\"handle\": 3, "
		"\"expr\": [{\"a\": 1, \"handle\": 4}]}}]}",
		"{\"nftables\": [{\"rule\": {\"expr\": [{\"handle\": 9, \"a\": 1}], \"handle\": "
		"7}}]}",
	};
	auto_error struct error err = ERROR_INIT;
	char first[SHA256_HEX_SIZE], other[SHA256_HEX_SIZE];

	(void)state;
	assert_int_equal(nft_listing_fingerprint(text_of(same[0]), first, &err), 0);
	assert_int_equal(nft_listing_fingerprint(text_of(same[1]), other, &err), 0);
	assert_string_equal(first, other);
	assert_int_equal(nft_listing_fingerprint(
				 TEXT("{\"nftables\": [{\"rule\": {\"expr\": []}}]}"), other, &err),
		0);
	assert_string_not_equal(first, other);
	static const char *const bad[] = {"", "[]", "{}", "{\"nftables\": {}}",
		"{\"nftables\": []}", "{\"nftables\": [{\"metainfo\": {}}]}", "{\"nftables\": ["};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (nft_listing_fingerprint(text_of(bad[i]), other, &err) == 0)
			fail_msg("%s", bad[i]);
}

struct seen {
	struct str text;
};

static void note(void *data, const struct nft_listed *t)
{
	struct seen *s = data;

	str_addf(&s->text, "%.*s|%.*s|%.*s\n", (int)t->name.len, t->name.p, (int)t->comment.len,
		t->comment.len ? t->comment.p : "", (int)t->bridge.len,
		t->bridge.len ? t->bridge.p : "");
}

static void test_tables(void **state)
{
	static const char rules[] =
		"table inet other {\n\tcomment \"cloop h n\"\n}\n"
		"table inet cloop_sbx_1 {\n\tcomment \"cloop h cloop-sbx-x\"\n\tchain input {\n"
		"\t\ttype filter hook input priority filter; policy accept;\n"
		"\t\tiifname \"br-1\" goto to_host\n\t}\n}\n"
		"table ip cloop_sbx_2 {\n}\ntable inet cloop_sbx_3 {\n}\ntable inet cloop_sbx_4 "
		"{\n";
	struct seen s = {.text = STR_INIT(4096)};

	(void)state;
	nft_listing_tables(text_of(rules), note, &s);
	assert_string_equal(
		str_text(&s.text), "cloop_sbx_1|cloop h cloop-sbx-x|br-1\ncloop_sbx_3||\n");
	str_done(&s.text);
}

static void test_gateway(void **state)
{
	static const struct {
		const char *document, *gateway;
		unsigned bits;
	} rows[] = {
		{"{'network_interface':'b','subnets':[{'subnet':'fd00::/64','gateway':'fd00::1'},"
		 "{'subnet':'10.9.0.0/26','gateway':'10.9.0.1'}]}",
			"10.9.0.1", 26},
		{"{'network_interface':'b','subnets':[{'gateway':'10.9.0.1'}]}", "10.9.0.1", 0},
		{"{'network_interface':'b','subnets':[{'subnet':'10.9.0.0/26'}]}", NULL, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(engine_network) n = {.bridge = NULL};
		auto_free char *text = mem_strdup(rows[i].document);
		for (char *p = text; *p; p++)
			*p = *p == '\'' ? '"' : *p;
		auto_json *document = json_loads(text, 0, NULL);
		assert_int_equal(engine_network_read(ENGINE_NETWORK_PODMAN, document, &n, &err), 0);
		assert_int_equal(n.bits, rows[i].bits);
		assert_true(rows[i].gateway ? n.gateway && strcmp(n.gateway, rows[i].gateway) == 0
					    : !n.gateway);
	}
}

static void test_comment_owner(void **state)
{
	static const struct {
		const char *comment, *home, *network;
	} rows[] = {
		{"cloop 0011 cloop-sbx-a", "0011", "cloop-sbx-a"},
		{"cloop 0011", NULL, NULL},
		{"cloop  x", NULL, NULL},
		{"cloop 0011 a b", NULL, NULL},
		{"other 0011 a", NULL, NULL},
		{"", NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text home, network;
		bool good = nft_listing_owner(text_of(rows[i].comment), &home, &network);
		if (good != (rows[i].home != NULL))
			fail_msg("%s", rows[i].comment);
		if (good)
			assert_true(
				text_is(home, rows[i].home) && text_is(network, rows[i].network));
	}
}

/* parse(render(x)) = x, and whatever is not of the form is refused. */
static void test_filter_json(void **state)
{
	AUTO(egress_filter) f;
	AUTO(egress_filter) back;
	AUTO(egress_filter) none;

	(void)state;
	egress_filter_init(&f);
	f.allow_public_internet = f.allow_all_ports = f.ipv6 = true;
	mem_set_string(&f.broker, "10.0.0.1:80");
	assert_int_equal(strv_add(&f.deny_cidrs, "10.0.0.0/8"), 0);
	assert_int_equal(strv_add(&f.proxies, "10.0.0.1:8080"), 0);
	auto_json *j = egress_filter_json_write(&f);
	assert_int_equal(egress_filter_json_read(j, &back), 0);
	auto_json *again = egress_filter_json_write(&back);
	assert_true(json_equal(j, again));
	json_object_set_new(j, "resolvers", json_integer(1));
	assert_int_equal(egress_filter_json_read(j, &none), -1);
	egress_filter_done(&none);
	assert_int_equal(egress_filter_json_read(NULL, &none), -1);
}

/* docker prints the document, podman a list of one. */
static void test_printed(void **state)
{
	auto_error struct error err = ERROR_INIT;
	static const char *const forms[] = {"{\"name\": \"a\"}", "[{\"name\": \"a\"}, {}]"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		auto_json *one = engine_network_parse(text_of(forms[i]), &err);
		assert_string_equal(json_get_string(one, "name"), "a");
	}
	auto_json *none = engine_network_parse(TEXT("[]"), &err);
	assert_true(json_is_null(none));
	assert_null(engine_network_parse(TEXT("Error: no"), &err));
	assert_int_equal(err.code, ERROR_ENGINE_NETWORK_INSPECT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_printed),
		cmocka_unit_test(test_subnets),
		cmocka_unit_test(test_tries_end),
		cmocka_unit_test(test_seed),
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_gateway),
		cmocka_unit_test(test_fingerprint),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_comment_owner),
		cmocka_unit_test(test_filter_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Pure parts of devices and interfaces (container-driver.md §17). */
#include "unit/unit.h"

#include <sys/sysmacros.h>

#include "base/mem.h"
#include "executor/container/device-access.h"
#include "executor/container/ip-answer.h"
#include "executor/container/ip-line.h"

/* ---- What ip says ---- */

static const char links_text[] =
	"[{\"ifindex\":1,\"ifname\":\"lo\",\"flags\":[\"LOOPBACK\",\"UP\"],\"mtu\":65536,"
	"\"address\":\"00:00:00:00:00:00\"},{},"
	"{\"ifindex\":7,\"link_index\":2,\"link_netnsid\":0,\"ifname\":\"veth0\",\"flags\":[],"
	"\"mtu\":1400,\"master\":\"br0\",\"address\":\"02:00:00:00:00:01\"},"
	"{\"ifindex\":8,\"link\":\"eth1\",\"ifname\":\"eth1.5\",\"flags\":[\"UP\"],\"mtu\":1500,"
	"\"address\":\"02:00:00:00:00:02\"},"
	"{\"ifindex\":9,\"ifname\":\"eth1\",\"flags\":[\"UP\"],\"mtu\":1500,"
	"\"address\":\"02:00:00:00:00:02\"},"
	"{\"ifindex\":10,\"ifname\":\"tun0\",\"flags\":[\"UP\"],\"mtu\":1500}]\n";

static const char *find(const struct ip_links *l, unsigned index, const char *mac, const char *name)
{
	struct ip_identity who = {.index = index, .mac = mac, .names = {name}};
	const struct ip_link *found = ip_answer_find(l, &who);

	return found ? found->name : "";
}

static void test_links(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(ip_links) l = {.v = NULL};

	assert_done(ip_answer_links(text_of(links_text), &l, &err), &err);
	assert_int_equal(l.n, 5);
	assert_true(l.v[0].up && !l.v[1].up && l.v[1].mtu == 1400);
	assert_string_equal(l.v[1].master, "br0");
	assert_true(!l.v[1].upper && l.v[2].upper && !l.v[3].upper);
	/* By index and MAC; by a name and MAC; by a MAC that only one has of its own. */
	assert_string_equal(find(&l, 8, "02:00:00:00:00:02", "x"), "eth1.5");
	assert_string_equal(find(&l, 99, "02:00:00:00:00:02", "eth1.5"), "eth1.5");
	assert_string_equal(find(&l, 99, "02:00:00:00:00:02", "x"), "eth1");
	assert_string_equal(find(&l, 99, "02:00:00:00:00:01", "x"), "veth0");
	assert_string_equal(find(&l, 7, "02:00:00:00:00:09", "veth0"), "");
	struct ip_identity exact = {99, "02:00:00:00:00:02", {"x"}, true};
	assert_null(ip_answer_find(&l, &exact));
	exact.names[0] = "eth1";
	assert_string_equal(ip_answer_find(&l, &exact)->name, "eth1");
	/* Without a MAC a name or the number has to do. */
	assert_string_equal(find(&l, 10, "", "x"), "tun0");
	assert_string_equal(find(&l, 99, "", "tun0"), "tun0");
	assert_string_equal(find(&l, 99, "", "x"), "");
}

static void test_links_refused(void **state)
{
	(void)state;
	static const char *const texts[] = {"{}", "x", "[1]", "[{\"ifname\":\"a\"}]",
		"[{\"ifindex\":0,\"ifname\":\"a\"}]", "[{\"ifindex\":1}]",
		"[{\"ifindex\":1,\"ifname\":\"sixteen-letters-\"}]",
		"[{\"ifindex\":4294967297,\"ifname\":\"a\"}]"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(ip_links) l = {.v = NULL};
		if (ip_answer_links(text_of(texts[i]), &l, &err) != -1 || l.v)
			fail_msg("%s", texts[i]);
	}
}

static void test_routes(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int result;
		const char *route;
	} cases[] = {
		{"", 0, NULL},
		{"[ ]\n", 0, NULL},
		{"[{\"dst\":\"default\",\"gateway\":\"10.0.0.1\",\"dev\":\"eth0\"}]", 1,
			"default via 10.0.0.1 dev eth0"},
		{"[{\"dst\":\"default\",\"dev\":\"eth1\"},{\"dst\":\"default\",\"dev\":\"eth0\","
		 "\"table\":\"4242\"}]",
			1, "default dev eth0 table 4242"},
		{"[{\"dst\":\"default\",\"nexthops\":[{\"dev\":\"a\"},{\"dev\":\"eth0\"}]}]", 1,
			"default dev eth0"},
		{"[{\"dst\":\"default\",\"dev\":\"eth00\"}]", 0, NULL},
		{"{\"dst\":\"default\"}", -1, NULL},
		{"[\"eth0\"]", -1, NULL},
		{"[", -1, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_error struct error err = ERROR_INIT;
		auto_free char *route = NULL;
		int r = ip_answer_default_route(text_of(cases[i].text), "eth0", &route, &err);
		if (r != cases[i].result || (r == 1 && strcmp(route, cases[i].route) != 0))
			fail_msg("%s: %d %s", cases[i].text, r, route ? route : "");
	}
}

/* ---- What ip is told ---- */

/* All steps of a walk, one a line: ">" for those inside. */
#define COLLECT(out, line, ...) \
	do { \
		for (unsigned n_ = 0;; n_++) { \
			AUTO(ip_step) step_ = IP_STEP_INIT; \
			if (!line(__VA_ARGS__, n_, &step_)) \
				break; \
			auto_free char *words_ = strv_join(&step_.words, " "); \
			str_addf(out, "%s%s: %s\n", step_.inside ? ">" : "", step_.what, words_); \
		} \
	} while (0)

static void test_give(void **state)
{
	(void)state;
	AUTO(str) whole = STR_INIT(4096);
	AUTO(str) least = STR_INIT(4096);
	struct plan_interface i = {"d", "eth1", "lan0", "fd00::2/64", "fd00::1", 9000};
	struct plan_interface bare = {"d", "eth1", "eth1", "", "", 0};

	COLLECT(&whole, ip_line_give, &i, 42);
	assert_string_equal(str_text(&whole),
		"down: link set dev eth1 down\n"
		"move: link set dev eth1 netns 42 name lan0\n"
		">mtu: link set dev lan0 mtu 9000\n"
		">address: address add fd00::2/64 dev lan0 nodad\n"
		">up: link set dev lan0 up\n"
		">route: route replace default via fd00::1 dev lan0\n");
	COLLECT(&least, ip_line_give, &bare, 42);
	assert_string_equal(str_text(&least), "down: link set dev eth1 down\n"
					      "move: link set dev eth1 netns 42\n"
					      ">up: link set dev eth1 up\n");
}

static void test_return(void **state)
{
	(void)state;
	AUTO(str) out = STR_INIT(4096);
	AUTO(str) down = STR_INIT(4096);
	struct ip_return r = {"lan0", "cloop7", "eth1", 1500, true, 1};

	COLLECT(&out, ip_line_take, &r);
	r.now = "cloop7";
	COLLECT(&out, ip_line_restore, &r);
	assert_string_equal(str_text(&out), ">flush: address flush dev lan0\n"
					    ">down: link set dev lan0 down\n"
					    ">move: link set dev lan0 netns 1 name cloop7\n"
					    "down: link set dev cloop7 down\n"
					    "rename: link set dev cloop7 name eth1\n"
					    "mtu: link set dev eth1 mtu 1500\n"
					    "up: link set dev eth1 up\n");
	r = (struct ip_return){"eth1", "cloop7", "eth1", 1500, false, 1};
	COLLECT(&down, ip_line_restore, &r);
	assert_string_equal(str_text(&down), "mtu: link set dev eth1 mtu 1500\n");
}

/* ---- Devices ---- */

static void test_access(void **state)
{
	(void)state;
	static const char status[] = "Name:\tx\nUid:\t1000\t1\t1\t1\nGid:\t100\t1\t1\t1\n"
				     "Groups:\t20 44 \nNSpid:\t1\n";
	static const struct {
		mode_t mode;
		uid_t uid;
		gid_t gid;
		const char *delivered;
		bool allowed;
	} cases[] = {
		{0400, 1000, 0, "r", true},
		{0400, 1000, 0, "rw", false},
		{0600, 1000, 0, "rwm", true},
		/* The owner's bits count, whatever others may. */
		{0066, 1000, 0, "r", false},
		{0060, 0, 44, "rw", true},
		{0640, 0, 44, "rw", false},
		{0640, 0, 100, "r", true},
		{0606, 0, 20, "r", false},
		{0604, 0, 5, "r", true},
		{0662, 0, 5, "r", false},
		{0666, 0, 0, "rwm", true},
		{0660, 0, 0, "r", false},
	};
	struct device_access_who who;

	assert_true(device_access_read(text_of(status), &who));
	assert_int_equal(who.uid, 1000);
	assert_int_equal(who.n_groups, 3);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct device_access_node n = {cases[i].mode, cases[i].uid, cases[i].gid};
		if (device_access_allows(&n, &who, cases[i].delivered) != cases[i].allowed)
			fail_msg("case %zu", i);
	}
	assert_true(device_access_read(TEXT("Uid:\t0\nGid:\t0\nGroups:\t\n"), &who));
	assert_false(device_access_read(TEXT("Uid:\t0\nGid:\t0\n"), &who));
	assert_false(device_access_read(TEXT("Uid:\tx\nGid:\t0\nGroups:\t\n"), &who));
	assert_false(device_access_read(TEXT("Uid:\t0\nGid:\t0\nGroups:\t1 -1\n"), &who));
}

static void test_plan(void **state)
{
	(void)state;
	struct plan_hardware h = {.n_devices = 0}, again = {.n_devices = 0};
	struct plan_device d = {"a", "/dev/\xff", "/dev/x", "rw", true, makedev(8, 17)};
	struct plan_interface i = {"n", "eth1", "lan0", "", "", 68};

	for (size_t k = 0; k < PLAN_DEVICES_MAX; k++)
		assert_int_equal(plan_hardware_add_device(&h, &d), 0);
	assert_int_equal(plan_hardware_add_device(&h, &d), -1);
	for (size_t k = 0; k < PLAN_INTERFACES_MAX; k++)
		assert_int_equal(plan_hardware_add_interface(&h, &i), 0);
	assert_int_equal(plan_hardware_add_interface(&h, &i), -1);
	auto_json *j = plan_hardware_to_json(&h);
	assert_int_equal(plan_hardware_from_json(j, &again), 0);
	auto_json *k = plan_hardware_to_json(&again);
	assert_true(json_equal(j, k));
	assert_string_equal(again.devices[15].source, "/dev/\xff");
	assert_true(again.devices[0].rdev == makedev(8, 17) && again.devices[0].block);
	json_object_del(json_array_get(json_object_get(j, "devices"), 0), "major");
	plan_hardware_done(&again);
	assert_int_equal(plan_hardware_from_json(j, &again), -1);
	assert_int_equal(plan_hardware_from_json(NULL, &again), 0);
	plan_hardware_done(&again);
	plan_hardware_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_links_refused),
		cmocka_unit_test(test_routes),
		cmocka_unit_test(test_give),
		cmocka_unit_test(test_return),
		cmocka_unit_test(test_access),
		cmocka_unit_test(test_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit/unit.h"

#include "sys/cgroup-locate.h"

#define V1(id, words, target) "3" id " 31 0:3" id " / " target " rw - cgroup cgroup rw," words "\n"
#define V1_ROOT(id, root, words, target) \
	"3" id " 31 0:3" id " " root " " target " rw - cgroup cgroup rw," words "\n"
#define V2(root, target) "40 31 0:40 " root " " target " rw - cgroup2 cgroup2 rw\n"
#define CG "/sys/fs/cgroup"

static const struct row {
	const char *name, *groups, *mounts;
	int version;
	const char *paths[CGROUP_CONTROLLERS]; /* cpu, memory, pids, cpuacct */
} rows[] = {
	{"v2", "0::/user.slice/x.scope\n", V2("/", CG), 2,
		{CG "/user.slice/x.scope", CG "/user.slice/x.scope", CG "/user.slice/x.scope",
			CG "/user.slice/x.scope"}},
	{"v2 at the root", "0::/\n", V2("/", CG), 2, {CG, CG, CG, CG}},
	{"v2, removed group", "0::/x (deleted)\n", V2("/", CG), 2,
		{CG "/x (deleted)", CG "/x (deleted)", CG "/x (deleted)", CG "/x (deleted)"}},
	{"v2, group outside our namespace", "0::/../other\n", V2("/", CG), 0, {NULL}},
	{"v2, part is mounted", "0::/a/b/c\n", V2("/a/b", CG), 2,
		{CG "/c", CG "/c", CG "/c", CG "/c"}},
	{"v2, another part is mounted", "0::/a/bc\n", V2("/a/b", CG), 0, {NULL}},
	{"v2, host's mount seen from a namespace", "0::/../../a/b\n", V2("/../..", CG), 2,
		{CG "/a/b", CG "/a/b", CG "/a/b", CG "/a/b"}},
	{"v2, the mount with more ancestors", "0::/a/b\n",
		V2("/a", "/x") V2("/", CG) V2("/a/b", "/y"), 2,
		{CG "/a/b", CG "/a/b", CG "/a/b", CG "/a/b"}},
	{"v2, escaped mount point", "0::/a\n", V2("/", "/my\\040groups"), 2,
		{"/my groups/a", "/my groups/a", "/my groups/a", "/my groups/a"}},
	{"v1", "9:cpu,cpuacct:/c\n4:memory:/m/x\n3:pids:/\n",
		V1("1", "cpu,cpuacct", CG "/cpu,cpuacct") V1("2", "memory", CG "/memory")
			V1("3", "pids", CG "/pids"),
		1, {CG "/cpu,cpuacct/c", CG "/memory/m/x", CG "/pids", CG "/cpu,cpuacct/c"}},
	{"v1, one controller is not mounted", "4:memory:/m\n3:pids:/p\n",
		V1("3", "pids", CG "/pids"), 1, {NULL, NULL, CG "/pids/p", NULL}},
	{"v1, bind-mounted parts (docker without a namespace)",
		"4:memory:/docker/id\n3:pids:/docker/id/sub\n2:cpu:/\n",
		V1_ROOT("1", "/docker/id", "memory", CG "/memory") V1_ROOT("2", "/docker/id",
			"pids", CG "/pids") V1_ROOT("3", "/docker/id", "cpu", CG "/cpu"),
		1, {NULL, CG "/memory", CG "/pids/sub", NULL}},
	{"v1, colon in the path", "4:memory:/a:b\n", V1("1", "memory", CG "/memory"), 1,
		{NULL, CG "/memory/a:b", NULL, NULL}},
	{"v1, cpuset is not cpu", "4:cpuset:/a\n", V1("1", "cpuset", CG "/cpuset"), 0, {NULL}},
	{"hybrid", "9:name=systemd:/s\n8:pids:/p\n4:memory:/m\n2:cpuacct:/a\n1:cpu:/c\n0::/u\n",
		V1("1", "cpu", CG "/cpu") V1("2", "cpuacct", CG "/cpuacct")
			V1("3", "memory", CG "/memory") V1("4", "pids", CG "/pids")
				V1("5", "name=systemd", CG "/systemd") V2("/", CG "/unified"),
		1, {CG "/cpu/c", CG "/memory/m", CG "/pids/p", CG "/cpuacct/a"}},
	{"hybrid, v1 has only others", "9:name=systemd:/s\n7:freezer:/\n0::/u\n",
		V1("5", "name=systemd", CG "/systemd") V1("6", "freezer", CG "/freezer")
			V2("/", CG "/unified"),
		2, {CG "/unified/u", CG "/unified/u", CG "/unified/u", CG "/unified/u"}},
	{"hybrid, cpuacct alone does not make it v1", "2:cpuacct:/a\n0::/u\n",
		V1("2", "cpuacct", CG "/cpuacct") V2("/", CG "/unified"), 2,
		{CG "/unified/u", CG "/unified/u", CG "/unified/u", CG "/unified/u"}},
	{"nothing mounted", "0::/a\n", "1 0 0:1 / / rw - ext4 /dev/sda rw\n", 0, {NULL}},
	{"nothing told", "", V2("/", CG), 0, {NULL}},
	{"malformed", "0:\n:\n0\nx::/a\n0:x:/a\n", V2("/", CG), 0, {NULL}},
};

static void test_locate(void **state)
{
	(void)state;
	for (const struct row *r = rows; r < rows + ARRAY_SIZE(rows); r++) {
		AUTO(cgroup) g = CGROUP_INIT;
		int version = cgroup_locate(text_of(r->groups), text_of(r->mounts), &g);
		if (version != r->version || g.version != version)
			fail_msg("%s: version %d", r->name, version);
		for (size_t c = 0; version && c < CGROUP_CONTROLLERS; c++) {
			const char *got = g.paths[c] ? g.paths[c] : "none";
			if (strcmp(got, r->paths[c] ? r->paths[c] : "none") != 0)
				fail_msg("%s: controller %zu: %s", r->name, c, got);
			if (g.paths[c] &&
				strncmp(g.paths[c], g.mounts[c], strlen(g.mounts[c])) != 0)
				fail_msg("%s: %s is not below %s", r->name, got, g.mounts[c]);
		}
	}
}

static void test_version(void **state)
{
	(void)state;
	assert_int_equal(cgroup_locate_version(TEXT("")), 0);
	assert_int_equal(cgroup_locate_version(TEXT(V2("/", CG))), 2);
	assert_int_equal(cgroup_locate_version(TEXT(V2("/", CG) V1("1", "pids", "/p"))), 1);
	assert_int_equal(cgroup_locate_version(TEXT(V1("1", "freezer", "/f"))), 0);
	assert_string_equal(cgroup_locate_word(CGROUP_CPUACCT, 1), "cpuacct");
	assert_string_equal(cgroup_locate_word(CGROUP_CPUACCT, 2), "cpu");
}

static void test_number(void **state)
{
	(void)state;
	static const struct {
		const char *content, *key;
		int64_t expected;
	} numbers[] = {
		{"12\n", NULL, 12},
		{"0", NULL, 0},
		{"max\n", NULL, -1},
		{"-1\n", NULL, -1},
		{"", NULL, -1},
		{"9223372036854775807\n", NULL, INT64_MAX},
		{"9223372036854775808\n", NULL, -1},
		{"low 0\noom 3\noom_kill 2\n", "oom_kill", 2},
		{"low 0\noom 3\noom_kill 2\n", "oom", 3},
		{"oom_kill_disable 0\nunder_oom 0\noom_kill 7", "oom_kill", 7},
		{"low 0\n", "oom_kill", -1},
		{"oom_kill\n", "oom_kill", -1},
		{"oom_kill x\n", "oom_kill", -1},
		{"usage_usec 1234\nuser_usec 1\n", "usage_usec", 1234},
	};
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		assert_int_equal(cgroup_locate_number(text_of(numbers[i].content), numbers[i].key),
			numbers[i].expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_locate),
		cmocka_unit_test(test_version), cmocka_unit_test(test_number)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

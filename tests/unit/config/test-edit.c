#include "unit/unit.h"

#include "config/edit.h"
#include "config/keys.h"

#define GROUPS "executors.container.group_add"
#define LIST(items) "executors:\n  container:\n    group_add:\n" items "    id: a\n"
#define FLOW(items) "executors:\n  container:\n    group_add: [" items "] # x\n    id: a\n"

static const struct {
	const char *before, *path;
	char *values[4];
	const char *after; /* NULL = refused */
} edits[] = {
	{"", "executors.limits.max_cpu", {"4"}, "executors:\n  limits:\n    max_cpu: 4\n"},
	{"# head\n", "executors.default", {"box"}, "# head\nexecutors:\n  default: box\n"},
	{"# head", "executors.default", {"box"}, "# head\nexecutors:\n  default: box\n"},
	{"{}", "executors.default", {"box"}, "{executors: {default: box}}"},
	/* replacing */
	{"executors:\n  default: box   # why\n  allow_host_process: false\n", "executors.default",
		{"other"}, "executors:\n  default: other   # why\n  allow_host_process: false\n"},
	{"executors:\n  default: 'b''x'\n", "executors.default", {"a"},
		"executors:\n  default: a\n"},
	{"executors:\n  default:\n", "executors.default", {"a"}, "executors:\n  default: a\n"},
	{"executors:\n  default: ~ # c\n", "executors.default", {"a"},
		"executors:\n  default: a # c\n"},
	{"executors:\n  default: |\n    box\n  # tail\n", "executors.default", {"a"},
		"executors:\n  default: a\n  # tail\n"},
	{"executors: {default: a, allow_host_process: true}\n", "executors.default", {"b"},
		"executors: {default: b, allow_host_process: true}\n"},
	{"executors:\r\n  default: a\r\n", "executors.allow_host_process", {"true"},
		"executors:\r\n  default: a\r\n  allow_host_process: true\r\n"},
	/* quoting */
	{"", "executors.container.selinux_label", {""},
		"executors:\n  container:\n    selinux_label: \"\"\n"},
	{"", "executors.default", {"null"}, "executors:\n  default: \"null\"\n"},
	{"", "executors.default", {"a: \"b\" #\\\t"},
		"executors:\n  default: \"a: \\\"b\\\" #\\\\\\x09\"\n"},
	{"", "executors.default", {"\xc3\xa4"}, "executors:\n  default: \"\xc3\xa4\"\n"},
	{"", "executors.default", {"\xff"}, NULL},
	{"", "executors.container.pids_limit", {"-1"},
		"executors:\n  container:\n    pids_limit: -1\n"},
	/* lists */
	{"", "executors.container.group_add", {"1", "2"},
		"executors:\n  container:\n    group_add: [1, 2]\n"},
	{"executors:\n  container:\n    group_add:\n      - 1 # one\n      - 2\n    id: a\n",
		"executors.container.group_add", {"3", "4"},
		"executors:\n  container:\n    group_add:\n      - 3 # one\n      - 4\n    id: "
		"a\n"},
	{"executors:\n  container:\n    group_add:\n    - 1\n", "executors.container.group_add",
		{"3"}, "executors:\n  container:\n    group_add:\n    - 3\n"},
	{"executors:\n  container:\n    group_add: [1,\n      2] # x\n",
		"executors.container.group_add", {"3"},
		"executors:\n  container:\n    group_add: [3] # x\n"},
	{"", "executors.container.id", {"a", "b"}, NULL},
	/* adding */
	{"executors:\n  default: a # x\n\n# next\nhub: {}\n", "executors.limits.max_cpu", {"4"},
		"executors:\n  default: a # x\n  limits:\n    max_cpu: 4\n\n# next\nhub: {}\n"},
	{"executors:\n    limits:   # none yet\n    default: a\n", "executors.limits.max_cpu",
		{"4"}, "executors:\n    limits:   # none yet\n      max_cpu: 4\n    default: a\n"},
	{"executors: ~ # why\n", "executors.default", {"a"}, "executors:  # why\n  default: a\n"},
	{"executors: {limits: }\n", "executors.limits.max_cpu", {"4"},
		"executors: {limits: {max_cpu: 4}}\n"},
	{"executors: {limits: null}\n", "executors.limits.max_cpu", {"4"},
		"executors: {limits: {max_cpu: 4}}\n"},
	{"executors: {default: a,}\n", "executors.limits.max_cpu", {"4"},
		"executors: {default: a, limits: {max_cpu: 4},}\n"},
	{"hub: {}", "executors.default", {"a"}, "hub: {}\nexecutors:\n  default: a"},
	{"---\nhub: {}\n...\n", "executors.default", {"a"},
		"---\nhub: {}\nexecutors:\n  default: a\n...\n"},
	{"\xef\xbb\xbf# \xc3\xa4\xe2\x82\xac\nexecutors:\n  default: \"\xc3\xa4\" # \xc3\xb6\n",
		"executors.default", {"b"},
		"\xef\xbb\xbf# \xc3\xa4\xe2\x82\xac\nexecutors:\n  default: b # \xc3\xb6\n"},
	/* items stay, go and come with what is said of them */
	{LIST("      # one\n      - '1'   # uno\n\n      # two\n      - 2\n"), GROUPS, {"1"},
		LIST("      # one\n      - '1'   # uno\n\n      # two\n")},
	{LIST("      # one\n      - 1\n      # two\n      - 2\n"), GROUPS, {"2"},
		LIST("      # one\n      # two\n      - 2\n")},
	{LIST("      # one\n      - 1 # uno\n      # two\n      - 2\n"), GROUPS, {"3", "1", "2"},
		LIST("      - 3\n      # one\n      - 1 # uno\n      # two\n      - 2\n")},
	{LIST("      - 1\n        # more of one\n      # the end\n"), GROUPS, {"1", "2"},
		LIST("      - 1\n        # more of one\n      - 2\n      # the end\n")},
	{LIST("      - 1\n      - 2 # two\n      - 4\n"), GROUPS, {"1", "3", "4"},
		LIST("      - 1\n      - 3 # two\n      - 4\n")},
	{LIST("      - 1 # a\n      - 2 # b\n"), GROUPS, {"2", "1"},
		LIST("      - 2 # b\n      - 1\n")},
	{FLOW("1, 2, 3"), GROUPS, {"1", "3"}, FLOW("1, 3")},
	{FLOW("1, 2, 3"), GROUPS, {"1"}, FLOW("1")},
	{FLOW("1, 2"), GROUPS, {"0", "1", "2"}, FLOW("0, 1, 2")},
	{FLOW("'1', 2"), GROUPS, {"1", "2", "3"}, FLOW("'1', 2, 3")},
	{FLOW(""), GROUPS, {"1", "2"}, FLOW("1, 2")},
	{FLOW("\n  1, # one\n  # two\n  2 # due\n"), GROUPS, {"1"},
		FLOW("\n  1, # one\n  # two\n")},
	{FLOW("\n  1, # one\n  2 # two\n"), GROUPS, {"1", "2", "3"},
		FLOW("\n  1, # one\n  2, # two\n  3\n")},
	{FLOW("\n  1, # one\n  2, # two\n"), GROUPS, {"1", "2", "3"},
		FLOW("\n  1, # one\n  2, # two\n  3,\n")},
	{FLOW("1, # one\n  2"), GROUPS, {"1"}, FLOW("1, # one\n  ")},
	{FLOW("1, # one\n  2, 3"), GROUPS, {"3"}, FLOW(" # one\n  3")},
	/* a new key does not part a comment from what it speaks of */
	{"executors:\n  container:\n    id: a\n    # image:\n    # more\n# end\n",
		"executors.limits.max_cpu", {"4"},
		"executors:\n  container:\n    id: a\n    # image:\n    # more\n"
		"  limits:\n    max_cpu: 4\n# end\n"},
	{"executors:\n  container:\n    id: a   # why\n            # at length\n    # next\n",
		"executors.container.network", {"none"},
		"executors:\n  container:\n    id: a   # why\n            # at length\n"
		"    network: none\n    # next\n"},
	{"executors:\n  limits:\n    # ceilings\n  default: a\n", "executors.limits.max_cpu", {"4"},
		"executors:\n  limits:\n    # ceilings\n    max_cpu: 4\n  default: a\n"},
	/* it comes behind the comment that shows it */
	{"executors:\n  container:\n    # the image\n    # image: \n    # a network\n"
	 "    # network: none\n    id: a\n",
		"executors.container.image", {"x"},
		"executors:\n  container:\n    # the image\n    # image: \n    image: x\n"
		"    # a network\n    # network: none\n    id: a\n"},
	{"executors:\n  limits:\n      # cpu\n      # max_cpu: 2\n      # max_pids: 3\n  default: "
	 "a\n",
		"executors.limits.max_cpu", {"4"},
		"executors:\n  limits:\n      # cpu\n      # max_cpu: 2\n      max_cpu: 4\n"
		"      # max_pids: 3\n  default: a\n"},
	{"executors:\n  container:\n    id: a\n    # group_add:\n    #   - 1\n    # - 2\n    # x\n",
		GROUPS, {"3"},
		"executors:\n  container:\n    id: a\n    # group_add:\n    #   - 1\n    # - 2\n"
		"    group_add: [3]\n    # x\n"},
	{"executors:\n  # default: the one that is taken\n  # when nothing is said\n  limits: {}\n",
		"executors.default", {"a"},
		"executors:\n  # default: the one that is taken\n  # when nothing is said\n"
		"  limits: {}\n  default: a\n"},
	{"executors:\n  container:\n    id: a\n  # default: b\n    network: none\n",
		"executors.default", {"a"},
		"executors:\n  container:\n    id: a\n  # default: b\n    network: none\n"
		"  default: a\n"},
	/* removing */
	{LIST("      # one\n      - 1\n\n      - 2 # two\n"), GROUPS, {NULL},
		"executors:\n  container:\n      # one\n\n    id: a\n"},
	{"executors:\n  default: |\n    # no comment\n    a\n  limits: {}\n", "executors.default",
		{NULL}, "executors:\n  limits: {}\n"},
	{"executors: {\n  default: a, # why\n  # of the limits\n  limits: {},\n}\n",
		"executors.default", {NULL}, "executors: {\n  # of the limits\n  limits: {},\n}\n"},
	{"executors:\n  # keep\n  default: a # gone\n  allow_host_process: true\n",
		"executors.default", {NULL}, "executors:\n  # keep\n  allow_host_process: true\n"},
	{"executors:\n  default: a\nhub: {}\n", "executors.default", {NULL},
		"executors:\nhub: {}\n"},
	{"executors:\n  container:\n    group_add:\n      - 1\n      - 2\n    id: a\n",
		"executors.container.group_add", {NULL}, "executors:\n  container:\n    id: a\n"},
	{"executors: {default: a, allow_host_process: true}\n", "executors.default", {NULL},
		"executors: {allow_host_process: true}\n"},
	{"executors: {default: a, allow_host_process: true}\n", "executors.allow_host_process",
		{NULL}, "executors: {default: a}\n"},
	{"executors: {default: a}\n", "executors.default", {NULL}, "executors: {}\n"},
	{"hub: {}\n", "executors.default", {NULL}, "hub: {}\n"},
	{"", "executors.default", {NULL}, ""},
	{"executors:\n  limits:\n", "executors.limits.max_cpu", {NULL}, "executors:\n  limits:\n"},
	/* layouts that are left alone */
	{"[a]\n", "executors.default", {"a"}, NULL},
	{"executors: 7\n", "executors.default", {"a"}, NULL},
	{"executors: {\n", "executors.default", {"a"}, NULL},
	{"executors: &a {}\n", "executors.default", {"a"}, NULL},
	{"# only\n...\n", "executors.default", {"a"}, NULL},
};

static size_t count(char *const *values)
{
	size_t n = 0;

	while (values[n])
		n++;
	return n;
}

static void test_edits(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(edits); i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(str) after = STR_INIT(4096);
		struct edit e = {edits[i].path, keys_find(edits[i].path, &err), edits[i].values,
			count(edits[i].values)};
		int result = edit_text(text_of(edits[i].before), &e, &after, &err);

		print_message("%s\n", edits[i].before);
		if (!edits[i].after) {
			assert_int_equal(result, -1);
			assert_int_equal(after.len, 0);
			continue;
		}
		assert_done(result, &err);
		assert_string_equal(str_text(&after), edits[i].after);
	}
}

static void test_unknown_keys(void **unused)
{
	static const char *const near[][2] = {
		{"executors.limits.max_mem", "executors.limits.max_memory"},
		{"executor.default", "executors"},
		{"max_pids", "executors.limits.max_pids"},
		{"executors.container.Network", "executors.container.network"},
	};
	auto_error struct error err = ERROR_INIT;

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(near); i++) {
		assert_null(keys_find(near[i][0], &err));
		assert_int_equal(err.code, ERROR_OPTION_UNKNOWN);
		if (!strstr(error_remedy(&err), near[i][1]))
			fail_msg("%s: %s", near[i][0], error_remedy(&err));
	}
	assert_null(keys_find("", &err));
	assert_null(keys_find("executors.", &err));
	assert_null(keys_find("executors.default.x", &err));
	assert_null(keys_find("sandbox.image_policy.cosign_identities.issuer", &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edits),
		cmocka_unit_test(test_unknown_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

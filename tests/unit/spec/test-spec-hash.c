/* Property of sandbox-spec.md §16.3: order of keys, quoting and spelling leave both hashes of a
 * file alone; another value anywhere changes sha256, and one of image or setup the other hash too.
 */
#include "unit/spec/spec-unit.h"

#include "base/str.h"

enum { SPELLINGS_MAX = 7, OTHERS_MAX = 6, ROUNDS = 300 };

struct leaf {
	const char *section; /* NULL: the file itself */
	const char *key;
	const char *same[SPELLINGS_MAX]; /* one value */
	const char *other[OTHERS_MAX];   /* each another one */
};

#define DIGEST "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct leaf leaves[] = {
	{NULL, "image", {"ghcr.io/a/b:1", "'ghcr.io/a/b:1'", "\" ghcr.io/a/b\\x3a1\\n\""},
		{"ghcr.io/a/b:2", "ghcr.io/a/b", "GHCR.io/a/b:1", "a@sha256:" DIGEST, "~"}},
	{NULL, "setup", {"[echo hi, b]", "[\"echo\\x20hi\", 'b']", "[ ' echo hi', \"b\\t\" ]"},
		{"[b, echo hi]", "[echo hi]", "[echo hi, b, b]", "[\"echo  hi\", b]", "[]"}},
	{NULL, "env", {"[B, A]", "['A', \"B\"]", "[A, B, A, \" B \"]"},
		{"[A]", "[]", "~", "[A, b]", "[A, B, C]"}},
	{NULL, "mounts",
		{"[{source: a, target: /a}, {source: b, target: /b, read_only: true}]",
			"[{read_only: true, target: '/b', source: b}, {target: \"/a\", source: a}]",
			"[{\"source\": 'a', 'target': /a, read_only: false}, "
			"{source: \"b\", target: /b, read_only: true}]"},
		{"[{source: a, target: /a}]", "[]",
			"[{source: a, target: /b}, {source: b, target: /a, read_only: true}]",
			"[{source: a, target: /a}, {source: b, target: /b}]",
			"[{source: a, target: /a}, {source: a, target: /b, read_only: true}]"}},
	{"resources", "cpu", {"1.5", "'1.50'", "\" 1.5\"", "1.4995", "1.50049"},
		{"1.501", "1.499", "0", "15", "~"}},
	{"resources", "memory",
		{"2g", "2G", "2048", "'2048m'", "2097152k", "2147483648B", "2147483647b"},
		{"2049", "2047m", "2t", "64", "0"}},
	{"resources", "disk", {"1t", "1T", "1048576", "2t", "99999999999999999999t"},
		{"1048575", "1g", "0", "~"}},
	{"resources", "pids", {"65536", "'65536'", "65537", "18446744073709551616"},
		{"65535", "1", "0", "~"}},
	{"capabilities", "git", {"true"}, {"false", "~"}},
	{"capabilities", "virtualized", {"true"}, {"false", "~"}},
	{"capabilities", "kernel_isolated", {"true"}, {"false", "~"}},
	{"capabilities", "network", {"egress_a", "'egress_a'", "\"\\x65gress_a \""},
		{"egress_A", "egress_b", "egress_a."}},
	{"capabilities", "egress", {"public", "PUBLIC", "\" Public\""}, {"~"}},
	{"capabilities", "devices", {"[b, a]", "[a, b]", "['a', \"b\", a]"},
		{"[a]", "[]", "~", "[a, B]", "[a, b, c]"}},
	{"capabilities", "interfaces", {"[b, a]", "[\" a\", b, b]"}, {"[a]", "[]", "~", "[a, c]"}},
};
enum { LEAVES = sizeof(leaves) / sizeof(leaves[0]) };

/* The inputs of a build, which setup_sha256 names. */
static bool names_build(const struct leaf *l)
{
	return strcmp(l->key, "image") == 0 || strcmp(l->key, "setup") == 0;
}

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

static void shuffle(size_t order[LEAVES])
{
	for (size_t i = 0; i < LEAVES; i++)
		order[i] = i;
	for (size_t i = LEAVES - 1; i > 0; i--) {
		size_t j = random_below((uint32_t)i + 1), kept = order[i];

		order[i] = order[j];
		order[j] = kept;
	}
}

static const char *any_spelling(const struct leaf *l)
{
	uint32_t n = 0;

	while (n < SPELLINGS_MAX && l->same[n])
		n++;
	return l->same[random_below(n)];
}

static void write_key(struct str *out, const char *key)
{
	static const char *const quotes[] = {"", "'", "\""};
	const char *q = quotes[random_below(3)];

	str_addf(out, "%s%s%s: ", q, key, q);
}

static const char *value_of(size_t i, size_t changed, const char *other)
{
	return i == changed ? other : any_spelling(&leaves[i]);
}

static void write_section(struct str *out, const size_t order[LEAVES], size_t first, size_t changed,
	const char *other)
{
	const char *section = leaves[order[first]].section;

	write_key(out, section);
	str_add_text(out, "{");
	for (size_t i = first; i < LEAVES; i++) {
		const struct leaf *l = &leaves[order[i]];

		if (!l->section || strcmp(l->section, section) != 0)
			continue;
		write_key(out, l->key);
		str_addf(out, "%s,%s", value_of(order[i], changed, other),
			random_below(2) ? "\n  " : " ");
	}
	str_add_text(out, "}\n");
}

static bool section_is_new(const size_t order[LEAVES], size_t at)
{
	for (size_t i = 0; i < at; i++) {
		const char *section = leaves[order[i]].section;

		if (section && strcmp(section, leaves[order[at]].section) == 0)
			return false;
	}
	return true;
}

/* All leaves in some order and spelling; the one numbered changed has the value other. */
static void write_file(struct str *out, size_t changed, const char *other)
{
	size_t order[LEAVES];

	shuffle(order);
	for (size_t i = 0; i < LEAVES; i++) {
		const struct leaf *l = &leaves[order[i]];

		if (l->section && section_is_new(order, i))
			write_section(out, order, i, changed, other);
		if (l->section)
			continue;
		write_key(out, l->key);
		str_addf(out, "%s\n", value_of(order[i], changed, other));
	}
}

static void parse_file(size_t changed, const char *other, struct spec_result *ret)
{
	AUTO(str) out = STR_INIT(SPEC_MAX_BYTES);

	write_file(&out, changed, other);
	unit_parse(str_text(&out), ret);
	if (!ret->ok)
		fail_msg("refused: %s", str_text(&out));
}

static void spelling_leaves_the_hashes(void **state)
{
	AUTO(spec_result) first = {0};

	(void)state;
	parse_file(LEAVES, NULL, &first);
	for (size_t i = 0; i < ROUNDS; i++) {
		AUTO(spec_result) again = {0};

		parse_file(LEAVES, NULL, &again);
		assert_string_equal(again.sha256, first.sha256);
		assert_string_equal(again.setup_sha256, first.setup_sha256);
	}
}

static void compare_changed(const struct spec_result *first, size_t leaf, const char *other)
{
	AUTO(spec_result) changed = {0};

	parse_file(leaf, other, &changed);
	if (strcmp(changed.sha256, first->sha256) == 0)
		fail_msg(
			"%s: %s has the hash of %s", leaves[leaf].key, other, leaves[leaf].same[0]);
	assert_int_equal(
		strcmp(changed.setup_sha256, first->setup_sha256) != 0, names_build(&leaves[leaf]));
}

static void another_value_changes_the_hash(void **state)
{
	AUTO(spec_result) first = {0};

	(void)state;
	parse_file(LEAVES, NULL, &first);
	for (size_t i = 0; i < LEAVES; i++)
		for (size_t j = 0; j < OTHERS_MAX && leaves[i].other[j]; j++)
			compare_changed(&first, i, leaves[i].other[j]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spelling_leaves_the_hashes),
		cmocka_unit_test(another_value_changes_the_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

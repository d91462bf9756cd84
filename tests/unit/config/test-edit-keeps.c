/*
 * What an edit has nothing to do with stays as it is, byte for byte: every file below, with every
 * key set, changed, taken out, and with every list longer and shorter by an item.
 */
#include "unit/unit.h"

#include "base/mem.h"
#include "base/strv.h"
#include "config/edit.h"
#include "config/keys.h"
#include "yaml/spans.h"

enum { LINES_MAX = 4096, ITEMS_MAX = 64 };

static const char *const files[] = {
	"",
	"# nothing yet\n\n# at all\n",
	/* as config init writes it */
	"# cloop: what anyone may have. `cloop config check` judges this file,\n"
	"# `cloop config show --defaults` lists every key.\n"
	"executors:\n"
	"  # nothing runs outside a sandbox unless you say so\n"
	"  # allow_host_process: false\n"
	"  limits:\n"
	"    # ceilings for every run: max_cpu, max_memory, max_pids\n"
	"    # max_memory: \n"
	"  container:\n"
	"    # found to start containers here\n"
	"    runtime: podman\n"
	"    # the image of projects that name none; cloop never pulls\n"
	"    # image: \n"
	"    # none, bridge, or a network that you made\n"
	"    # network: none\n",
	/* by hand: comments everywhere, odd indentation, every kind of quotes */
	"---\n"
	"# who may do what\n"
	"\n"
	"executors:   # all of them\n"
	"\n"
	"    # the one that is meant\n"
	"    default: 'container'   # quoted on purpose\n"
	"                           # and at length\n"
	"\n"
	"    container:\n"
	"        image: \"localhost/a:1\"  # ours\n"
	"        group_add:      # groups\n"
	"            # video\n"
	"            - '44'      # cards\n"
	"\n"
	"            # audio, not yet\n"
	"            # - 29\n"
	"            - 27\n"
	"            # no more than that\n"
	"        extra_args: [ '--dns=9.9.9.9',   \"--dns-search=a\" ]\n"
	"        # network: bridge\n"
	"    # after the container\n"
	"\n"
	"# images\n"
	"sandbox:\n"
	"    image_policy:\n"
	"        allowed_registries:\n"
	"        - ghcr.io   # GitHub\n"
	"        # our own\n"
	"        - registry.example:5000\n"
	"\n"
	"# vim: set sw=4:\n",
	/* brackets over lines, and a text of several lines that looks like comments */
	"executors: {\n"
	"  # one\n"
	"  default: container, # why\n"
	"  container: { image: \"localhost/a:1\", group_add: [\n"
	"    44, # video\n"
	"    # audio\n"
	"    27\n"
	"  ] }\n"
	"}\n"
	"sandbox:\n"
	"  image_policy:\n"
	"    allowed_repos: >-\n"
	"      # no comment\n"
	"    default_registry: ghcr.io\n",
	/* without a line break at the end, with CR */
	("executors:\r\n  # a\r\n  default: container\r\n  # b\r\norchestrator:\r\n  # floor\r\n"
	 "  min_free_disk_mb: 7 # MB"),
};

/* ---- Lines ---- */

static void split(struct text file, struct strv *ret)
{
	struct text line;

	while (text_split(&file, '\n', &line)) {
		if (text_ends(line, "\r"))
			line.len--;
		if (line.len > 0 || file.p)
			assert_int_equal(strv_add_n(ret, line.p, line.len), 0);
	}
}

static size_t line_of(struct text file, size_t at)
{
	size_t n = 0;

	for (size_t i = 0; i < at; i++)
		n += file.p[i] == '\n';
	return n;
}

/* Half-open. */
struct range {
	size_t begin, end;
};

static bool says_nothing(const char *line)
{
	struct text t = text_trim(text_of(line));

	return t.len == 0 || t.p[0] == '#';
}

/* How many lines of `before`, those in `own` that say something aside, are not in `after`. */
static size_t count_lost(const struct strv *before, struct range own, const struct strv *after)
{
	size_t at = 0, lost = 0;

	for (size_t i = 0; i < before->n; i++) {
		size_t found = at;
		while (found < after->n && strcmp(before->v[i], after->v[found]) != 0)
			found++;
		if (found < after->n)
			at = found + 1;
		else if (i < own.begin || i >= own.end || says_nothing(before->v[i]))
			lost++;
	}
	return lost;
}

/* ---- Edits ---- */

struct subject {
	struct text file;
	bool brackets; /* a neighbour's line may get or lose a comma */
	struct spans spans;
	size_t edits;
};

static const struct span *find(const struct subject *s, const char *path)
{
	struct text rest = text_of(path), part;
	const struct span *at = s->spans.root, *key = NULL;

	while (at && at->kind == SPAN_MAPPING && text_split(&rest, '.', &part)) {
		key = span_key(at, part);
		at = key ? key->value : NULL;
	}
	return at && !rest.p ? key : NULL;
}

static void check(struct subject *s, const char *path, char *const *values, struct range own)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) after = STR_INIT(1 << 16);
	AUTO(strv) old = STRV_INIT(LINES_MAX);
	AUTO(strv) new = STRV_INIT(LINES_MAX);
	struct edit e = {path, keys_find(path, &err), values, 0};

	while (values[e.n])
		e.n++;
	assert_done(edit_text(s->file, &e, &after, &err), &err);
	split(s->file, &old);
	split((struct text){str_text(&after), after.len}, &new);
	size_t lost = count_lost(&old, own, &new);
	s->edits++;
	if (lost <= (s->brackets ? 1 : 0))
		return;
	print_message("%s\n", str_text(&after));
	fail_msg("%s to %s: %zu lines are lost", path, values[0] ? values[0] : "-", lost);
}

static struct range lines_of(
	const struct subject *s, const struct span *from, const struct span *to)
{
	return (struct range){line_of(s->file, from->begin), line_of(s->file, to->end) + 1};
}

/* Each item less, and one more at each place. */
static void change_items(struct subject *s, const char *path, const struct span *list)
{
	char *items[ITEMS_MAX] = {NULL}, *values[ITEMS_MAX];
	const struct span *spans[ITEMS_MAX];
	size_t n = 0;

	for (const struct span *item = list->first; item; item = item->next) {
		items[n] = mem_strndup(item->text.p, item->text.len);
		spans[n++] = item;
	}
	for (size_t i = 0; n > 1 && i < n; i++) {
		memcpy(values, items, sizeof(values));
		memmove(values + i, values + i + 1, (n - i) * sizeof(*values));
		check(s, path, values, lines_of(s, spans[i], spans[i]));
	}
	for (size_t i = 0; i <= n; i++) {
		memcpy(values, items, i * sizeof(*values));
		values[i] = mem_strdup("7");
		memcpy(values + i + 1, items + i, (n - i + 1) * sizeof(*values));
		check(s, path, values, list->flow ? lines_of(s, list, list) : (struct range){0, 0});
		free(values[i]);
	}
	for (size_t i = 0; i < n; i++)
		free(items[i]);
}

static void change_key(void *data, const char *path, const struct schema_key *key)
{
	struct subject *s = data;
	char *set[] = {(char[]){"7"}, NULL}, *none[] = {NULL};
	const struct span *at = find(s, path);
	struct range own = at ? lines_of(s, at, at->value) : (struct range){0, 0};

	if (key->type == SCHEMA_ENTRIES)
		return;
	check(s, path, set, own);
	check(s, path, none, own);
	if (at && at->value->kind == SPAN_SEQUENCE)
		change_items(s, path, at->value);
}

static void test_everything_else_stays(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct subject s = {.file = text_of(files[i])};
		s.brackets = text_has(s.file, "executors: {");
		assert_int_equal(spans_read(s.file, &s.spans), 0);
		keys_each("", change_key, &s);
		spans_done(&s.spans);
		assert_true(s.edits > 100);
	}
}

/* What is set anew and taken out again leaves the file as it was, but for sections that it made. */
static void test_there_and_back(void **state)
{
	(void)state;
	static const char *const keys[] = {"executors.limits.max_memory",
		"executors.container.image", "executors.container.network",
		"executors.container.pids_limit"};
	struct text file = text_of(files[2]);

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(str) there = STR_INIT(1 << 16);
		AUTO(str) back = STR_INIT(1 << 16);
		char *value[] = {(char[]){"7"}, NULL};
		struct edit e = {keys[i], keys_find(keys[i], &err), value, 1};
		assert_done(edit_text(file, &e, &there, &err), &err);
		e.n = 0;
		struct text text = {str_text(&there), there.len};
		assert_done(edit_text(text, &e, &back, &err), &err);
		assert_string_equal(str_text(&back), files[2]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_else_stays),
		cmocka_unit_test(test_there_and_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

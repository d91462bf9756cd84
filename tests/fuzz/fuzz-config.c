/*
 * Bytes of an operator: read as a config file; and the rest of an input whose first line is
 * "KEY=VALUE" as a file in which that key is set. What is accepted can be used; what is refused
 * says where; an edit that is made keeps every line that is a comment, changes nothing when made
 * again, and can be taken back.
 */
#include <assert.h>
#include <stdint.h>

#include "base/mem.h"
#include "config/config.h"
#include "config/edit.h"
#include "config/keys.h"
#include "limits/ceiling.h"
#include "net/egress-policy.h"

enum { VALUES_MAX = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool parse(struct text bytes)
{
	AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(problems) warnings = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX);
	AUTO(config) c = {0};
	int result = config_parse(bytes, &c, &errors, &warnings);

	assert((result == 0) == (errors.n == 0));
	for (size_t i = 0; i < errors.n; i++) {
		assert(strlen(errors.v[i].message) <= PROBLEM_TEXT_MAX);
		assert(errors.v[i].path && errors.v[i].code[0]);
	}
	if (result != 0)
		return false;
	AUTO(container_options) again;
	auto_error struct error err = ERROR_INIT;
	container_options_init(&again);
	int done = container_options_normalize(&c.container, &again, &err);
	assert(done == 0);
	AUTO(egress_policy) policy = {.n_rules = 0};
	done = egress_policy_compile(&c.filter, &policy, &err);
	assert(done == 0);
	assert(config_default_executor(&c)[0]);
	done = ceiling_check(&c.fleet, "fleet ceiling", &err);
	assert(done == 0);
	return true;
}

/* Lines that are comments and nothing else; none where text may go over lines. */
static size_t comments(struct text t)
{
	struct text line;
	size_t n = 0;

	if (text_has_byte(t, '"') || text_has_byte(t, '\'') || text_has_byte(t, '|') ||
		text_has_byte(t, '>'))
		return 0;
	while (text_split(&t, '\n', &line))
		n += text_starts(text_trim(line), "#");
	return n;
}

static void check_comments(struct text before, struct text after)
{
	size_t now = comments(after);

	/* A value that was written in quotes hides them all. */
	assert(now >= comments(before) || (now == 0 && text_has_byte(after, '"')));
}

/* Values as a command line has them: of a list several, else one. */
static size_t split_values(const struct schema_key *key, struct text t, char *values[VALUES_MAX])
{
	struct text part;
	size_t n = 0;

	while (n < VALUES_MAX && text_split(&t, key->type == SCHEMA_LIST ? ',' : '\0', &part))
		values[n++] = mem_strndup(part.p, part.len);
	return n;
}

static void edit(struct text file, const struct edit *set)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) after = STR_INIT(CONFIG_MAX_BYTES);
	AUTO(str) twice = STR_INIT(CONFIG_MAX_BYTES);
	AUTO(str) cleared = STR_INIT(CONFIG_MAX_BYTES);
	struct edit clear = {set->path, set->key, NULL, 0};

	if (edit_text(file, set, &after, &err) < 0)
		return;
	struct text text = {str_text(&after), after.len};
	parse(text);
	check_comments(file, text);
	/* What is there already is left as it is. */
	int r = edit_text(text, set, &twice, &err);
	assert(r == 0 && text_equal(text, (struct text){str_text(&twice), twice.len}));
	if (edit_text(text, &clear, &cleared, &err) < 0)
		return;
	struct text without = {str_text(&cleared), cleared.len};
	parse(without);
	check_comments(text, without);
}

static void try_edit(struct text file, const char *path, struct text value)
{
	auto_error struct error err = ERROR_INIT;
	char *values[VALUES_MAX];
	struct edit set = {path, keys_find(path, &err), values, 0};

	if (!set.key || set.key->type == SCHEMA_SECTION || set.key->type == SCHEMA_ENTRIES)
		return;
	set.n = split_values(set.key, value, values);
	edit(file, &set);
	for (size_t i = 0; i < set.n; i++)
		free(values[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = {(const char *)data, size};
	const char *newline = size ? memchr(data, '\n', size) : NULL;
	const char *equals = newline ? memchr(data, '=', (size_t)(newline - bytes.p)) : NULL;

	if (size > CONFIG_MAX_BYTES)
		return 0;
	parse(bytes);
	if (!equals)
		return 0;
	auto_free char *path = mem_strndup(bytes.p, (size_t)(equals - bytes.p));
	try_edit(text_after(bytes, (size_t)(newline + 1 - bytes.p)), path,
		(struct text){equals + 1, (size_t)(newline - equals - 1)});
	return 0;
}

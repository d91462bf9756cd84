/*
 * Bytes of an operator: read as a config file; and the rest of an input whose first line is
 * "KEY=VALUE" as a file in which that key is set. What is accepted can be used; what is refused
 * says where; an edit that is made says what was asked and can be taken back.
 */
#include <assert.h>
#include <stdint.h>

#include "base/mem.h"
#include "config/config.h"
#include "config/edit.h"
#include "config/keys.h"
#include "limits/ceiling.h"

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
	assert(!c.container.egress_filter_enabled);
	assert(config_default_executor(&c)[0]);
	done = ceiling_check(&c.fleet, "fleet ceiling", &err);
	assert(done == 0);
	return true;
}

static void edit(struct text file, const char *path, const char *value)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) after = STR_INIT(CONFIG_MAX_BYTES);
	AUTO(str) cleared = STR_INIT(CONFIG_MAX_BYTES);
	char *values[] = {mem_strdup(value), NULL};
	auto_free char *owned __attribute__((unused)) = values[0];
	struct edit set = {path, keys_find(path, &err), values, 1};
	struct edit clear = {path, set.key, NULL, 0};

	if (!set.key || set.key->type == SCHEMA_SECTION || set.key->type == SCHEMA_ENTRIES)
		return;
	if (edit_text(file, &set, &after, &err) < 0) {
		assert(after.len == 0);
		return;
	}
	struct text text = {str_text(&after), after.len};
	parse(text);
	if (edit_text(text, &clear, &cleared, &err) == 0)
		parse((struct text){str_text(&cleared), cleared.len});
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
	auto_free char *value = mem_strndup(equals + 1, (size_t)(newline - equals - 1));
	edit(text_after(bytes, (size_t)(newline + 1 - bytes.p)), path, value);
	return 0;
}

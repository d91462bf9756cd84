/*
 * A workload's environment: nothing of it that means something to an engine's client reaches that
 * client, and all of it arrives (container-driver.md §8). Input: NUL-separated entries.
 */
#include <assert.h>
#include <stdint.h>

#include "executor/container/environment.h"

enum { ENTRIES_MAX = 1024 };

static bool has_variable(const struct strv *env, const char *name)
{
	strv_foreach (entry, env) {
		struct text rest = text_of(*entry), part;
		text_split(&rest, '=', &part);
		if (text_is(part, name))
			return true;
	}
	return false;
}

static void check_client(const struct environment_plan *plan)
{
	static const char *const forbidden[] = {"LD_PRELOAD", "LD_LIBRARY_PATH", "PATH", "HOME",
		"DOCKER_HOST", "CONTAINER_HOST", "GODEBUG", "https_proxy", "HTTP_PROXY",
		"XDG_RUNTIME_DIR", "GCONV_PATH", "BASH_ENV", "IFS"};
	AUTO(strv) env = STRV_INIT(ENTRIES_MAX);

	environment_plan_add_client(plan, strv_add, &env);
	for (size_t i = 0; i < ARRAY_SIZE(forbidden); i++)
		assert(!has_variable(&env, forbidden[i]));
}

/* The file holds exactly the entries that do not travel by name, a line each, in order. */
static void check_file(const struct environment_plan *plan)
{
	struct text rest = {str_text(&plan->file), plan->file.len}, line;

	for (size_t i = 0; i < plan->entries.n; i++) {
		if (!plan->in_file[i])
			continue;
		assert(text_split(&rest, '\n', &line) && text_is(line, plan->entries.v[i]));
	}
	assert(rest.len == 0);
}

/* Every name once, with the value of its last entry. */
static void check_entries(const struct environment_plan *plan, const struct text *entries, size_t n)
{
	for (size_t i = 0; i < plan->entries.n; i++) {
		struct text kept = text_of(plan->entries.v[i]), name = kept, value;
		size_t last = n;
		value = kept;
		text_split(&value, '=', &name);
		for (size_t j = 0; j < n; j++)
			if (entries[j].len > name.len && entries[j].p[name.len] == '=' &&
				memcmp(entries[j].p, name.p, name.len) == 0)
				last = j;
		assert(last < n && text_equal(entries[last], kept));
		for (size_t j = i + 1; j < plan->entries.n; j++)
			assert(strncmp(plan->entries.v[j], kept.p, name.len + 1) != 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(environment_plan) plan = {.has_home = false};
	struct text rest = {(const char *)data, size}, entries[ENTRIES_MAX], part;
	size_t n = 0;

	if (size == 0)
		return 0;
	while (n < ENTRIES_MAX && text_split(&rest, '\0', &part))
		entries[n++] = part;
	if (environment_plan(entries, n, &plan, &err) < 0) {
		assert(strncmp(error_code_text(err.code), "env_", 4) == 0);
		return 0;
	}
	check_client(&plan);
	check_file(&plan);
	check_entries(&plan, entries, n);
	return 0;
}

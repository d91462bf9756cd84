#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/unheld.h"
#include "config/config.h"
#include "config/set.h"
#include "config/show.h"
#include "run/context.h"

/* A ceiling of the fleet that some executor cannot hold. */
static json_t *warn(struct cli *c, const char *key)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO(context) context = {.home = HOME_INIT};
	json_t *warnings = json_array();

	if (!text_starts(text_of(key), "executors.limits") ||
		cli_context_open(c, &context, &ignored) < 0)
		return warnings;
	for (size_t i = 0; i < context.executors.n; i++)
		unheld_add(context.executors.items[i], &context.config.fleet, warnings);
	return warnings;
}

/* What the configuration, as it is now, is warned of in the section of the key. */
static void warn_of_section(const char *path, const char *key, json_t *warnings)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO(config) config = {0};
	AUTO(config_report) report = {0};
	const char *dot = strrchr(key, '.');
	auto_free char *section = mem_strndup(key, dot ? (size_t)(dot - key) : 0);

	if (config_read(path, &config, &report, &ignored) != 0)
		return;
	for (size_t i = 0; i < report.warnings.n; i++) {
		const struct problem *p = &report.warnings.v[i];
		auto_free char *message = mem_printf("%s: %s", p->path, p->message);
		if (text_starts(text_of(p->path), section))
			json_array_append_new(
				warnings, json_pack("{s:s, s:o, s:o}", "code", p->code, "message",
						  json_from_string(message), "remediation",
						  json_from_string(p->remedy)));
	}
}

/* The key's row of config show; NULL: the file cannot be read. */
static json_t *look(const char *path, const char *key)
{
	auto_error struct error ignored = ERROR_INIT;
	auto_json *shown = NULL;

	if (show_config(path, key, &shown, &ignored) < 0)
		return NULL;
	return json_incref(json_array_get(json_object_get(shown, "values"), 0));
}

static void print_unset(const char *path, const char *key, const json_t *before)
{
	const char *origin = json_get_string(before, "origin");
	bool absent = origin && strcmp(origin, "default") == 0;
	auto_json *now = look(path, key);
	const json_t *value = json_object_get(now, "value");

	printf("%s %s in %s", key, absent ? "was not set" : "is no longer set", path);
	if (value && !json_is_null(value)) {
		auto_free char *text = json_write(value);
		printf(": its default holds, %s\n", text);
	} else {
		puts(": it has no default");
	}
}

static int run(struct cli *c, struct error *err)
{
	const char *path = cli_config(c, err), *key = cli_arg(c, 0);
	auto_json *before = path && c->n_args == 1 ? look(path, key) : NULL;

	if (!path || set_key(path, key, c->args + 1, c->n_args - 1, err) < 0)
		return -1;
	auto_json *warnings = warn(c, key);
	warn_of_section(path, key, warnings);
	if (!c->json)
		unheld_print(warnings);
	if (c->json)
		cli_print_json(json_pack("{s:b, s:o, s:s, s:O}", "ok", 1, "path",
			json_from_bytes(text_of(path)), "key", key, "warnings", warnings));
	else if (c->n_args > 1)
		printf("%s is set in %s\n", key, path);
	else
		print_unset(path, key, before);
	return CLI_OK;
}

const struct verb cmd_config_set = {
	.group = "config",
	.name = "set",
	.summary = "change one key of the operator's configuration",
	.args = "KEY [VALUE...]",
	.min_args = 1,
	.max_args = VERB_MANY,
	.flags = VERB_JSON | VERB_HOME | VERB_CONFIG | VERB_ANY_WORD,
	.help = "Comments and order of the file stay. The whole result is validated before the "
		"file "
		"is replaced. A list takes several values; without a value the key is taken out, "
		"and "
		"its default holds.\n"
		"  cloop config set executors.container.memory 2g\n"
		"  cloop config set executors.container.group_add 27 44\n"
		"  cloop config set executors.container.group_add",
	.run = run,
};

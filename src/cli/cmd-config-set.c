#include <stdio.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/unheld.h"
#include "config/set.h"
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

static int run(struct cli *c, struct error *err)
{
	const char *path = cli_config(c, err), *key = cli_arg(c, 0);

	if (!path || set_key(path, key, c->args + 1, c->n_args - 1, err) < 0)
		return -1;
	auto_json *warnings = warn(c, key);
	if (!c->json)
		unheld_print(warnings);
	if (c->json)
		cli_print_json(json_pack("{s:b, s:o, s:s, s:O}", "ok", 1, "path",
			json_from_bytes(text_of(path)), "key", key, "warnings", warnings));
	else
		printf("%s is %s in %s\n", key, c->n_args > 1 ? "set" : "no longer set", path);
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
		"is replaced. A list takes several values; without a value the key is taken out.\n"
		"  cloop config set executors.container.memory 2g\n"
		"  cloop config set executors.container.group_add 27 44",
	.run = run,
};

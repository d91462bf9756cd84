#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/verbs.h"

static int run(struct cli *c, struct error *err)
{
	const char *first = cli_arg(c, 0), *second = cli_arg(c, 1);

	if (!first)
		return help_show(NULL, NULL, err);
	const char *group = verbs_is_group(first) ? first : NULL;
	if (group && !second)
		return help_show(group, NULL, err);
	if (!group && second)
		return cli_usage(c, err, "%s has no sub-commands", quoted_string(first));
	const char *word = group ? second : first;
	const struct verb *v = verbs_find(group, word);
	return v ? help_show(group, v, err) : verbs_unknown(group, word, err);
}

const struct verb cmd_help = {
	.name = "help",
	.summary = "show the commands, or one of them",
	.args = "[COMMAND...]",
	.max_args = 2,
	.run = run,
};

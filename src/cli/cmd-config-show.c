#include <stdio.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "config/show.h"

enum { SHOWN_MAX = 1 << 20 };

static int run(struct cli *c, struct error *err)
{
	const char *path = cli_config(c, err);
	json_t *shown;

	if (!path)
		return -1;
	if (show_config(cli_flag(c, "--defaults") ? NULL : path, cli_arg(c, 0), &shown, err) < 0)
		return -1;
	if (c->json) {
		cli_print_json(shown);
		return CLI_OK;
	}
	AUTO(str) text = STR_INIT(SHOWN_MAX);
	show_text(shown, &text);
	fputs(str_text(&text), stdout);
	json_decref(shown);
	return CLI_OK;
}

static const struct option options[] = {
	{"--defaults", NULL, "the defaults, whatever the file says", NULL, false},
	{0},
};

const struct verb cmd_config_show = {
	.group = "config",
	.name = "show",
	.summary = "show effective values and where they come from",
	.args = "[KEY]",
	.max_args = 1,
	.flags = VERB_JSON | VERB_HOME | VERB_CONFIG,
	.options = options,
	.help = "KEY is a key or a section, as in executors.container.memory or executors.limits; "
		"default: everything.",
	.run = run,
};

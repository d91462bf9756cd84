#include <stdio.h>

#include "cli/cli.h"
#include "cli/commands.h"

static int run(struct cli *c, struct error *err)
{
	(void)err;
	if (c->json)
		cli_print_json(json_pack("{s:s}", "version", CLOOP_VERSION));
	else
		puts("cloop " CLOOP_VERSION);
	return CLI_OK;
}

const struct verb cmd_version = {
	.name = "version",
	.summary = "show the version",
	.flags = VERB_JSON,
	.help = "cloop --version is the same.",
	.run = run,
};

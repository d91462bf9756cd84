#include <stdio.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/completion.h"

static int run(struct cli *c, struct error *err)
{
	AUTO(str) out = STR_INIT(1 << 20);
	const char *shell = cli_arg(c, 0);

	if (completion_script(&out, text_of(shell)) < 0)
		return cli_usage(c, err, "no completion for the shell %s (one of: %s)",
			quoted_string(shell), COMPLETION_SHELLS);
	fputs(str_text(&out), stdout);
	return CLI_OK;
}

const struct verb cmd_completion = {
	.name = "completion",
	.summary = "print the completion script of a shell",
	.args = "bash|zsh|fish",
	.min_args = 1,
	.max_args = 1,
	.help = "For this session:\n"
		"  bash   source <(cloop completion bash)\n"
		"  zsh    source <(cloop completion zsh)\n"
		"  fish   cloop completion fish | source",
	.run = run,
};

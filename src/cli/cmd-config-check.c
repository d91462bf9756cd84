#include <stdio.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/problem-lines.h"
#include "config/config.h"

static json_t *to_json(const char *path, bool ok, const struct config_report *r)
{
	return json_pack("{s:b, s:b, s:o, s:o, s:o}", "ok", ok, "present", r->present, "path",
		json_from_bytes(text_of(path)), "errors", problems_to_json(&r->errors), "warnings",
		problems_to_json(&r->warnings));
}

static void print(const char *path, bool ok, const struct config_report *r)
{
	problem_lines_print(path, &r->errors, &r->warnings);
	if (!ok)
		printf("%s is refused: nothing runs until it is mended\n", path);
	else if (r->present)
		printf("%s is valid\n", path);
	else
		printf("there is no %s: the defaults apply\n", path);
}

static int run(struct cli *c, struct error *err)
{
	const char *path = cli_config(c, err);
	AUTO(config) config = {0};
	AUTO(config_report) report = {0};

	if (!path)
		return -1;
	int r = config_read(path, &config, &report, err);
	if (r < 0)
		return -1;
	if (r == 0)
		config_check_keys(&config, &report.warnings);
	if (c->json)
		cli_print_json(to_json(path, r == 0, &report));
	else
		print(path, r == 0, &report);
	return r == 0 ? CLI_OK : CLI_REFUSED;
}

const struct verb cmd_config_check = {
	.group = "config",
	.name = "check",
	.summary = "validate the operator's configuration",
	.flags = VERB_JSON | VERB_HOME | VERB_CONFIG,
	.help = "Shows every error with line and column. A file that is there and broken refuses "
		"every run; one that is absent means the defaults.",
	.exits = "0 valid, or there is no file; 1 not valid; 2 wrong usage",
	.run = run,
};

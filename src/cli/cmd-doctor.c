/* cloop doctor: the checks of a deployment (cli.md, image-trust.md §13). */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "run/doctor.h"

static void print(const json_t *check)
{
	auto_free char *message = cli_plain(json_get_string(check, "message"));
	auto_free char *fix = cli_plain(json_get_string(check, "fix"));

	printf("%-4s  %s: %s\n", json_get_string(check, "level"), json_get_string(check, "name"),
		message);
	if (fix[0])
		printf("      fix: %s\n", fix);
}

static int run(struct cli *c, struct error *err)
{
	struct doctor_question q = {.home = cli_home(c, err),
		.config_path = cli_config(c, err),
		.offline = cli_flag(c, "--offline")};
	const json_t *check;
	size_t i;

	if (!q.home || !q.config_path)
		return -1;
	auto_json *report = doctor_examine(&q);
	if (c->json)
		cli_print_json(json_incref(report));
	else
		json_array_foreach(json_object_get(report, "checks"), i, check) print(check);
	return json_get_bool(report, "ok", false) ? CLI_OK : CLI_REFUSED;
}

static const struct option options[] = {
	{"--offline", NULL, "ask no registry", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_doctor = {
	.name = "doctor",
	.summary = "check the image policy and the executors of this host",
	.flags = VERB_JSON | VERB_HOME | VERB_CONFIG,
	.options = options,
	.help = "Checks the operator's image policy, what it needs (cosign, key files, the "
		"registries that it names), the ceilings, and every executor; starts no sandbox. A "
		"line is ok, "
		"warn or fail, the name of the check, what was found, and what to do about it. "
		"Exits with 1 when one fails.",
	.exits = "0 nothing fails (a warning may be there); 1 a check fails; 2 wrong usage",
	.run = run,
};

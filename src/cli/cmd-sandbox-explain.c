/* cloop sandbox explain (cli.md): what a run would get, and why; runs nothing. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/signals.h"
#include "run/denial.h"
#include "run/dispatch.h"

static void print_section(const json_t *j, const char *key)
{
	const json_t *value = json_object_get(j, key);

	if (!value || json_is_null(value))
		return;
	auto_free char *text = cli_shown(value);
	printf("%-13s %s\n", key, text);
}

/* One word a line. */
static void print_argv(const json_t *argv)
{
	size_t i;
	json_t *word;

	if (!json_is_array(argv))
		return;
	printf("argv\n");
	json_array_foreach(argv, i, word)
	{
		auto_free char *text = cli_plain(json_string_value(word));
		printf("    %s\n", text);
	}
}

static void print(const json_t *j)
{
	static const char *const keys[] = {"executor", "placement", "spec", "requirements",
		"limits", "network", "image", "build_network", "env", "grants", "mounts", "ungated",
		"warnings"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		print_section(j, keys[i]);
	print_argv(json_object_get(j, "argv"));
}

static int run(struct cli *c, struct error *err)
{
	static const struct text nothing[] = {TEXT("true")};
	AUTO(context) context = {.home = HOME_INIT};
	auto_free struct text *argv = mem_alloc(c->n_argv * sizeof(*argv));
	auto_json *answer = NULL;
	auto_fd int signals = signals_catch(err);

	if (signals < 0)
		return -1;
	for (size_t i = 0; i < c->n_argv; i++)
		argv[i] = text_of(c->argv[i]);
	struct dispatch d = {
		.input = {.project = c->dir, .executor_id = cli_option(c, "--executor")},
		.argv = c->n_argv ? argv : nothing,
		.n_argv = c->n_argv ? c->n_argv : 1,
		.cancel_fd = signals,
	};
	if (cli_context_open(c, &context, err) < 0 ||
		dispatch_explain(&context, &d, &answer, err) < 0) {
		denial_complete(c->dir, err);
		return -1;
	}
	if (c->json)
		cli_print_json(json_incref(answer));
	else
		print(answer);
	return CLI_OK;
}

static const struct option options[] = {
	{"--executor", "ID", "this executor, whatever the project is bound to", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_sandbox_explain = {
	.group = "sandbox",
	.name = "explain",
	.summary = "show what a run would get, and why",
	.flags = VERB_PROJECT | VERB_ARGV,
	.options = options,
	.help = "Shows the requirements of the file, effective limits and who lowered them, the "
		"network, the "
		"image that would run, and the exact words the engine would get. Runs nothing.",
	.run = run,
};

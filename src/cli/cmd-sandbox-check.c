#include <stdio.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/judge.h"
#include "spec/spec-json.h"
#include "spec/spec-load.h"

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void print_problem(const struct problem *p, const char *what)
{
	AUTO(str) line = STR_INIT(16 * PROBLEM_TEXT_MAX);

	str_addf(&line, "%s:", SPEC_PATH);
	if (p->at.line)
		str_addf(&line, "%u:%u:", p->at.line, p->at.column);
	str_addf(&line, " %s: ", what);
	if (p->path[0])
		str_addf(&line, "%s: ", p->path);
	text_escape(&line, text_of(p->message), PROBLEM_TEXT_MAX);
	str_addf(&line, " (%s)\n", p->code);
	if (p->remedy[0]) {
		str_add_text(&line, "  fix: ");
		text_escape(&line, text_of(p->remedy), PROBLEM_TEXT_MAX);
		str_add_char(&line, '\n');
	}
	fputs(str_text(&line), stdout);
}

static void print_problems(const struct problems *ps, const char *what)
{
	for (size_t i = 0; i < ps->n; i++)
		print_problem(&ps->v[i], what);
}

static void print(const struct spec_result *r)
{
	print_problems(&r->errors, "error");
	print_problems(&r->warnings, "warning");
	if (!r->ok)
		printf("%s is refused: %zu error%s\n", SPEC_PATH, r->errors.n,
			r->errors.n == 1 ? "" : "s");
	else if (r->present)
		printf("%s is valid, sha256 %s\n", SPEC_PATH, r->sha256);
	else
		printf("%s says nothing: the executor's defaults apply\n", SPEC_PATH);
}

static int run(struct cli *c, struct error *err)
{
	const char *path = cli_arg(c, 0) ? cli_arg(c, 0) : c->dir;
	AUTO(spec_result) r;

	spec_result_init(&r);
	int failed = is_directory(path) ? spec_load_dir(path, &judge_spec_checks, &r, err)
					: spec_load_file(path, &judge_spec_checks, &r, err);
	if (failed < 0)
		return -1;
	if (c->json)
		cli_print_json(spec_json_check(&r));
	else
		print(&r);
	return r.ok ? CLI_OK : CLI_REFUSED;
}

const struct verb cmd_sandbox_check = {
	.group = "sandbox",
	.name = "check",
	.summary = "validate a project's sandbox file",
	.args = "[PATH]",
	.max_args = 1,
	.flags = VERB_PROJECT,
	.help = "PATH is a project's directory or the file itself; default: the project of -C. All "
		"errors of the file are shown, in file order, each with what to write instead. "
		"Exits "
		"with 0 when the file is valid or absent, with 1 when it is refused.",
	.run = run,
};

#include <stdio.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/judge.h"
#include "cli/problem-lines.h"
#include "spec/spec-json.h"
#include "spec/spec-load.h"

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/*
 * The image of a valid file under the operator's policy. A denial is one more error of the file,
 * with members that other errors do not have (*ret_details); nothing: NULL.
 */
static void judge(struct cli *c, struct spec_result *r, json_t **ret_details)
{
	auto_error struct error denial = ERROR_INIT;
	struct image_verdict v;

	if (!r->ok || !r->spec.image)
		return;
	struct text image = text_of(r->spec.image);
	judge_image(c, IMAGE_ORIGIN_PROJECT, image, &v);
	if (v.allowed)
		return;
	image_verdict_error(&v, IMAGE_ORIGIN_PROJECT, image, &denial);
	problems_add_error(&r->errors, r->image_at, "image", &denial);
	r->ok = false;
	*ret_details = TAKE_PTR(denial.details);
}

static json_t *to_json(const struct spec_result *r, json_t *details)
{
	json_t *answer = spec_json_check(r);

	if (details)
		json_object_update(json_array_get(json_object_get(answer, "errors"), 0), details);
	return answer;
}

static void print(const struct spec_result *r)
{
	problem_lines_print(SPEC_PATH, &r->errors, &r->warnings);
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
	auto_json *details = NULL;
	judge(c, &r, &details);
	if (c->json)
		cli_print_json(to_json(&r, details));
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

/* cloop sandbox check (cli.md, sandbox-spec.md §13). */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/judge.h"
#include "cli/problem-lines.h"
#include "executor/constraint.h"
#include "run/choice.h"
#include "spec/spec-json.h"
#include "spec/spec-load.h"
#include "store/store.h"

/* The two verdicts on a valid file, which become errors of it with members that others lack. */
struct judged {
	struct error image, gate; /* not set: passed, or not asked */
};
#define JUDGED_INIT ((struct judged){ERROR_INIT, ERROR_INIT})

static void judged_done(struct judged *j)
{
	error_done(&j->image);
	error_done(&j->gate);
}

static bool refused(const struct error *e)
{
	return e->code != ERROR_NONE;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The project whose .cloop/sandbox.yaml this is by its name; NULL: of none. Caller frees. */
static char *project_of_file(const char *path)
{
	size_t n = strlen(path), tail = strlen("/" SPEC_PATH);

	if (strcmp(path, SPEC_PATH) == 0)
		return mem_strdup(".");
	if (n < tail || strcmp(path + n - tail, "/" SPEC_PATH) != 0)
		return NULL;
	return n == tail ? mem_strdup("/") : mem_strndup(path, n - tail);
}

static int load_file(const char *path, struct spec_result *r, struct error *err)
{
	int done = spec_load_file(path, &judge_spec_checks, r, err);
	auto_free char *project = done > 0 ? project_of_file(path) : NULL;

	if (done <= 0)
		return done;
	if (project)
		return spec_load_dir(project, &judge_spec_checks, r, err);
	error_set(
		err, ERROR_NOT_A_PROJECT, "there is no file or directory %s", quoted_string(path));
	return error_set_remedy(err, "name a project's directory, or its " SPEC_PATH);
}

static int load(const struct cli *c, const char *path, struct spec_result *r, struct error *err)
{
	return cli_arg(c, 0) && !is_directory(path)
		       ? load_file(path, r, err)
		       : spec_load_dir(path, &judge_spec_checks, r, err);
}

/* The image under the operator's policy. */
static void judge(struct cli *c, struct spec_result *r, struct error *denial)
{
	struct image_verdict v;

	if (!r->spec.image)
		return;
	struct text image = text_of(r->spec.image);
	judge_image(c, IMAGE_ORIGIN_PROJECT, image, &v);
	if (v.allowed)
		return;
	image_verdict_error(&v, IMAGE_ORIGIN_PROJECT, image, denial);
	problems_add_error(&r->errors, spec_result_at(r, "image"), "image", denial);
}

/* ---- The gate of the executor that the project is bound to ---- */

/* Directory of the project that the answer is about; caller frees. */
static char *project_of(const struct cli *c, const char *path)
{
	char *named = cli_option(c, "-C") ? NULL : project_of_file(path);

	if (named)
		return named;
	return mem_strdup(is_directory(path) ? path : c->dir);
}

/* 0: bound; 1: it is not. Makes no home. */
static int find_binding(struct cli *c, const char *path, struct provider *ret, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	auto_free char *project = project_of(c, path);
	const char *home = cli_home(c, err);

	if (!home) {
		error_clear(err);
		return 1;
	}
	if (store_open_existing(home, &store, err) < 0 ||
		provider_load(store, project, ret, err) < 0)
		return -1;
	return ret->executor ? 0 : 1;
}

/* Path of the key behind a refusal; "" where no key of the file is. */
static const char *key_behind(const struct spec_result *r, const struct error *refusal)
{
	const char *word = json_get_string(refusal->details, "constraint");
	int constraint = word ? constraint_from_text(text_of(word)) : -1;

	if (constraint < 0)
		return "";
	if (constraint == CONSTRAINT_NETWORK_OFF)
		return "capabilities.network";
	const char *key = constraint_file_key((enum constraint)constraint);
	if (constraint == CONSTRAINT_NETWORK_EGRESS && spec_result_at(r, key).line == 0)
		key = "capabilities.egress";
	return key && spec_result_at(r, key).line > 0 ? key : "";
}

static void ask_gate(
	struct cli *c, const struct provider *bound, struct spec_result *r, struct error *refusal)
{
	AUTO(context) context = {.home = HOME_INIT};
	const struct choice_file f = {r, bound};
	bool unproven = false;

	if (cli_context_open(c, &context, refusal) < 0 ||
		choice_judge_file(&context, &f, &unproven, refusal) < 0) {
		const char *key = key_behind(r, refusal);
		problems_add_error(&r->errors, spec_result_at(r, key), key, refusal);
	} else if (unproven) {
		problems_add(&r->warnings, PROBLEM_NETWORK_OFF_UNPROVEN, POSITION_NONE,
			"capabilities.network", CHOICE_UNPROVEN);
	}
}

static int judge_valid(
	struct cli *c, const char *path, struct spec_result *r, struct judged *j, struct error *err)
{
	AUTO(provider) bound = PROVIDER_INIT;

	judge(c, r, &j->image);
	int unbound = find_binding(c, path, &bound, err);
	if (unbound < 0)
		return -1;
	if (unbound == 0)
		ask_gate(c, &bound, r, &j->gate);
	problems_finish(&r->errors);
	r->ok = r->errors.n == 0;
	return 0;
}

/* A malformed image is a denial, too (image-trust.md §12): rule, detail and the like. */
static void add_malformed(const struct spec_result *r, json_t *errors)
{
	static const struct image_policy none = {.default_registry = NULL};
	struct text image = {r->refused_image, r->refused_image_len};
	auto_error struct error denial = ERROR_INIT;
	struct image_verdict v;
	size_t i;
	json_t *e;

	if (!image.p)
		return;
	image_verdict(&none, IMAGE_ORIGIN_PROJECT, image, &v);
	image_verdict_details(&v, IMAGE_ORIGIN_PROJECT, image, &denial);
	json_array_foreach(errors, i, e) if (strcmp(json_get_string(e, "code"),
						     problem_code_text(PROBLEM_REFERENCE_SYNTAX)) ==
					     0) json_object_update_missing(e, denial.details);
}

static json_t *to_json(const struct spec_result *r, const struct judged *j)
{
	json_t *answer = spec_json_check(r);
	size_t i;
	json_t *e;

	add_malformed(r, json_object_get(answer, "errors"));
	if (!refused(&j->image) && !refused(&j->gate))
		return answer;
	json_array_foreach(json_object_get(answer, "errors"), i, e)
	{
		bool image =
			refused(&j->image) && strcmp(json_get_string(e, "path"), "image") == 0 &&
			strcmp(json_get_string(e, "code"), error_code_text(j->image.code)) == 0;
		json_object_update_missing(e, image ? j->image.details : j->gate.details);
	}
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
	AUTO(judged) judged = JUDGED_INIT;
	AUTO(spec_result) r;

	spec_result_init(&r);
	if (load(c, path, &r, err) < 0 || (r.ok && judge_valid(c, path, &r, &judged, err) < 0))
		return -1;
	if (c->json)
		cli_print_json(to_json(&r, &judged));
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
		"errors of the file are shown, in file order, each with what to write instead. A "
		"valid file is judged further: its image by the operator's policy and, if the "
		"project is bound to an executor, all of it by what that one can do. Exits "
		"with 0 when the file is valid or absent, with 1 when it is refused.",
	.exits = "0 valid, or there is no file; 1 not valid, or refused; 2 wrong usage",
	.run = run,
};

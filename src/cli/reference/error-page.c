#include "cli/reference/error-page.h"

#include "cli/reference/error-meanings.h"
#include "cli/reference/markdown.h"

static const char intro[] =
	"\nEvery failure has one of these codes: `code` of the answer with `--json`, of a run's\n"
	"record, of the audit trail. They are stable; messages are not. The HTTP status is "
	"`status`\n"
	"of the answer: 400 what somebody wrote is wrong by itself, 403 and 404 as usual, 409 it "
	"does\n"
	"not fit what is there, 5xx the host, the engine or cloop failed.\n\n"
	"`cloop run` exits with the status in the third column, every other command with 1 (2 for\n"
	"`usage`). The remedy is the usual one; where the place knows better, it says better.\n\n"
	"| code | HTTP | run | met when | remedy |\n|---|---|---|---|---|\n";

int error_page(struct str *out, struct error *err)
{
	markdown_title(out, "Errors");
	str_add_text(out, intro);
	for (enum error_code c = ERROR_NONE + 1; c < ERROR_CODE_COUNT; c++) {
		const char *code = error_code_text(c), *meaning = error_meanings_of(c);
		struct error plain = {.code = c};
		if (!meaning)
			return error_set(err, ERROR_INTERNAL,
				"error %s has no meaning in cli/reference/error-meanings.c", code);
		str_addf(out, "| `%s` | %d | %d | ", code, error_code_http(c),
			error_code_run_exit(c));
		markdown_cell(out, meaning);
		str_add_text(out, " | ");
		markdown_cell(out, error_remedy(&plain));
		str_add_text(out, " |\n");
	}
	return 0;
}

static const struct {
	const char *code, *remedy;
} problems[] = {
#define PROBLEM(id, text, remedy) {text, remedy},
#include "yaml/problem-list.h"
#undef PROBLEM
};

void error_page_problems(struct str *out)
{
	str_add_text(out, "\n| code | remedy |\n|---|---|\n");
	for (size_t i = 0; i < ARRAY_SIZE(problems); i++) {
		str_addf(out, "| `%s` | ", problems[i].code);
		markdown_cell(out, problems[i].remedy);
		str_add_text(out, " |\n");
	}
}

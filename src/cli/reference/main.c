/* For the build: write-reference DIR writes docs/reference from the tables of the program. */
#include <fcntl.h>
#include <stdio.h>

#include "base/mem.h"
#include "cli/reference/command-page.h"
#include "cli/reference/error-page.h"
#include "cli/reference/event-page.h"
#include "cli/reference/markdown.h"
#include "cli/reference/record-page.h"
#include "schema/key-docs.h"
#include "config/values.h"
#include "spec/spec-keys.h"
#include "sys/file.h"

enum { PAGE_MAX = 1 << 20 };

static int command(struct str *out, struct error *err)
{
	(void)err;
	command_page(out);
	return 0;
}

static int record(struct str *out, struct error *err)
{
	(void)err;
	record_page(out);
	return 0;
}

static int event(struct str *out, struct error *err)
{
	(void)err;
	event_page(out);
	return 0;
}

static const char config_intro[] =
	"\nThe operator's file: that of `--config`, else of `CLOOP_CONFIG`, else\n"
	"`/etc/cloop/config.yaml` (root) or `~/.config/cloop/config.yaml`. It is read at each run. "
	"An\n"
	"absent file means the defaults; one that is there and broken refuses every run. It must\n"
	"belong to root or the user, and must not be writable by others. Keys are closed: one "
	"that\n"
	"is not listed is an error. `cloop config check` judges it, `cloop config show` says what\n"
	"holds and where it comes from, `cloop config init` writes one that works here.\n\n"
	"Sizes are written `512m`, `2g`, or a bare number of MB.\n";

static int config(struct str *out, struct error *err)
{
	(void)err;
	markdown_title(out, "config.yaml");
	str_add_text(out, config_intro);
	key_docs_markdown(&values_schema, NULL, out);
	return 0;
}

static const char sandbox_intro[] =
	"\n`.cloop/sandbox.yaml` of a project, at most 65,536 bytes. `cloop sandbox check` judges "
	"it\n"
	"with line and column, `cloop sandbox explain` says what a run would get of it, `cloop\n"
	"sandbox init` writes one to begin with, `cloop sandbox schema` prints its JSON Schema.\n\n"
	"It is a strict part of YAML: one document in UTF-8, no anchors, aliases, tags, merge "
	"keys\n"
	"and duplicate keys. Keys are closed. Nothing in it gives a sandbox more than the "
	"operator\n"
	"granted.\n";

static int sandbox(struct str *out, struct error *err)
{
	(void)err;
	markdown_title(out, "sandbox.yaml");
	str_add_text(out, sandbox_intro);
	key_docs_markdown(spec_keys_schema(), NULL, out);
	str_add_text(out, "\n## Codes\n\nOf `errors` and `warnings`, each with path, line and "
			  "column; those of\n"
			  "`config.yaml` (`cloop config check`) are among them. Where the remedy "
			  "is empty, the\n"
			  "message says it.\n");
	error_page_problems(out);
	return 0;
}

static const struct page {
	const char *file;
	int (*write)(struct str *out, struct error *err);
} pages[] = {
	{"commands.md", command},
	{"config.md", config},
	{"errors.md", error_page},
	{"events.md", event},
	{"record.md", record},
	{"sandbox-yaml.md", sandbox},
};

static int write_page(int dir, const struct page *p, struct error *err)
{
	AUTO(str) out = STR_INIT(PAGE_MAX);

	if (p->write(&out, err) < 0)
		return -1;
	if (str_full(&out))
		return error_set(err, ERROR_INTERNAL, "page %s is too large", p->file);
	return file_replace_at(
		dir, p->file, 0644, (struct text){str_text(&out), out.len}, false, err);
}

int main(int argc, char **argv)
{
	auto_error struct error err = ERROR_INIT;
	auto_fd int dir = argc == 2 ? open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (dir < 0) {
		fprintf(stderr, "usage: write-reference DIR\n");
		return 2;
	}
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		if (write_page(dir, &pages[i], &err) == 0)
			continue;
		fprintf(stderr, "write-reference: %s\n", err.message);
		return 1;
	}
	return 0;
}

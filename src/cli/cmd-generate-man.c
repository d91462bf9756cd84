/* For the build: writes the man pages into DIR/man1 and DIR/man5. */
#include <errno.h>
#include <fcntl.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/man.h"
#include "cli/verbs.h"
#include "config/values.h"
#include "spec/spec-keys.h"
#include "sys/file.h"

enum { PAGE_MAX = 256 << 10 };

/* Writes the page as NAME.SECTION. */
static int write_page(
	int dir, const char *name, char section, const struct str *page, struct error *err)
{
	auto_free char *file = mem_printf("%s.%c", name, section);

	if (str_full(page))
		return error_set(err, ERROR_INTERNAL, "page %s is too large", file);
	return file_replace_at(
		dir, file, 0644, (struct text){str_text(page), page->len}, false, err);
}

static int write_verb(int dir, const struct verb *v, struct error *err)
{
	AUTO(str) page = STR_INIT(PAGE_MAX);
	AUTO(str) name = STR_INIT(64);

	str_add_text(&name, "cloop-");
	verbs_write_name(&name, v, '-');
	man_verb(&page, v);
	return write_page(dir, str_text(&name), '1', &page, err);
}

static int write_commands(int dir, struct error *err)
{
	AUTO(str) page = STR_INIT(PAGE_MAX);

	man_overview(&page);
	if (write_page(dir, "cloop", '1', &page, err) < 0)
		return -1;
	for (const struct verb *const *v = verbs; *v; v++)
		if (!((*v)->flags & VERB_HIDDEN) && write_verb(dir, *v, err) < 0)
			return -1;
	return 0;
}

static int write_files(int dir, struct error *err)
{
	const struct man_file files[] = {
		{"cloop.yaml", "the operator's configuration of cloop",
			"/etc/cloop/config.yaml, ~/.config/cloop/config.yaml",
			"Read at each run. An absent file means the defaults; one that is there "
			"and "
			"broken refuses every run. It must belong to root or the user and must not "
			"be "
			"writable by others. See cloop config check, show and set.",
			&values_schema, "sandbox.yaml"},
		{"sandbox.yaml", "what a repository's runs need", ".cloop/sandbox.yaml",
			"Can only take access away: what a run may reach is granted by the "
			"operator. "
			"Every key is optional. See cloop sandbox check, schema and init.",
			spec_keys_schema(), "cloop.yaml"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AUTO(str) page = STR_INIT(PAGE_MAX);
		man_file(&page, &files[i]);
		if (write_page(dir, files[i].page, '5', &page, err) < 0)
			return -1;
	}
	return 0;
}

static int write_section(const char *below, const char *name,
	int (*write)(int dir, struct error *err), struct error *err)
{
	auto_free char *path = mem_printf("%s/%s", below, name);

	if (file_make_dirs(path, 0755, err) < 0)
		return -1;
	auto_fd int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return error_set_errno(err, ERROR_IO, errno, "opening %s", quoted_string(path));
	return write(dir, err);
}

static int run(struct cli *c, struct error *err)
{
	const char *below = cli_arg(c, 0);

	if (write_section(below, "man1", write_commands, err) < 0)
		return -1;
	return write_section(below, "man5", write_files, err) < 0 ? -1 : CLI_OK;
}

const struct verb cmd_generate_man = {
	.name = "generate-man",
	.summary = "write the man pages",
	.args = "DIR",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_HIDDEN,
	.run = run,
};

/* For the build: writes the man pages into a directory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/man.h"
#include "cli/verbs.h"
#include "sys/file.h"

enum { PAGE_MAX = 256 << 10 };

static int write_page(int dir, const struct verb *v, struct error *err)
{
	AUTO(str) page = STR_INIT(PAGE_MAX);
	AUTO(str) name = STR_INIT(64);

	str_add_text(&name, "cloop");
	if (v) {
		str_add_char(&name, '-');
		verbs_write_name(&name, v, '-');
		man_verb(&page, v);
	} else {
		man_overview(&page);
	}
	str_add_text(&name, ".1");
	struct text bytes = {str_text(&page), page.len};
	return file_replace_at(dir, str_text(&name), 0644, bytes, false, err);
}

static int run(struct cli *c, struct error *err)
{
	const char *path = cli_arg(c, 0);

	if (file_make_dirs(path, 0755, err) < 0)
		return -1;
	auto_fd int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return error_set_errno(err, ERROR_IO, errno, "opening %s", quoted_string(path));
	if (write_page(dir, NULL, err) < 0)
		return -1;
	for (const struct verb *const *v = verbs; *v; v++)
		if (!((*v)->flags & VERB_HIDDEN) && write_page(dir, *v, err) < 0)
			return -1;
	return CLI_OK;
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

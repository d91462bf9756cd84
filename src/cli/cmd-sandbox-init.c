#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "image/reference.h"
#include "spec/spec.h"
#include "spec/starter.h"
#include "sys/file.h"

enum { STARTER_MAX = 64 << 10 };

/* The project's .cloop, made if it is not there; a link is never followed. */
static int open_folder(const char *project, struct error *err)
{
	auto_fd int dir = open(project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return error_set_errno(
			err, ERROR_NOT_A_PROJECT, errno, "opening %s", quoted_string(project));
	if (mkdirat(dir, ".cloop", 0755) < 0 && errno != EEXIST)
		return error_set_errno(
			err, ERROR_IO, errno, "making .cloop in %s", quoted_string(project));
	int fd = file_open_at(
		dir, ".cloop", O_RDONLY | O_DIRECTORY, 0, FILE_BENEATH | FILE_NO_SYMLINKS);
	if (fd < 0)
		return error_set_errno(
			err, ERROR_IO, errno, "opening .cloop in %s", quoted_string(project));
	return fd;
}

static int write_new(int folder, const struct str *text, struct error *err)
{
	struct text bytes = {text->data, text->len};
	int r = file_create_at(folder, "sandbox.yaml", 0644, bytes, err);

	return r > 0 ? error_set(err, ERROR_FILE_EXISTS, "%s is there already", SPEC_PATH) : r;
}

static int run(struct cli *c, struct error *err)
{
	const char *image = cli_option(c, "--image");
	struct image_reference ref;
	AUTO(str) text = STR_INIT(STARTER_MAX);

	if (image && image_reference_parse(text_of(image), &ref, err) < 0)
		return -1;
	starter_write(image, &text);
	auto_fd int folder = open_folder(c->dir, err);
	if (folder < 0 || write_new(folder, &text, err) < 0)
		return -1;
	if (c->json)
		cli_print_json(json_pack("{s:b, s:s}", "ok", 1, "path", SPEC_PATH));
	else
		printf("%s is written; cloop sandbox check judges it\n", SPEC_PATH);
	return CLI_OK;
}

static const struct option options[] = {
	{"--image", "REF", "the image to begin with", NULL, false},
	{0},
};

const struct verb cmd_sandbox_init = {
	.group = "sandbox",
	.name = "init",
	.summary = "write a commented sandbox file to start from",
	.flags = VERB_JSON | VERB_DIR,
	.options = options,
	.help = "Writes .cloop/sandbox.yaml into the project and never replaces one.",
	.run = run,
};

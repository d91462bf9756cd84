#include <stdio.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "image/reference.h"

static int refuse(const struct cli *c, const struct error *err)
{
	if (c->json)
		cli_print_json(json_pack("{s:b, s:o}", "ok", 0, "error", error_to_json(err)));
	else
		cli_print_error(c, err);
	return CLI_REFUSED;
}

static void print(const struct cli *c, const struct image_reference *r)
{
	char name[IMAGE_TEXT_MAX + 1], canonical[IMAGE_TEXT_MAX + 1];

	image_reference_name(r, name);
	image_reference_canonical(r, canonical);
	if (c->json) {
		cli_print_json(json_pack("{s:b, s:s, s:s, s:s, s:s, s:b, s:s, s:s}", "ok", 1,
			"registry", r->registry, "repository", r->repository, "tag", r->tag,
			"digest", r->digest, "qualified", r->qualified, "name", name, "canonical",
			canonical));
		return;
	}
	printf("registry    %s%s\n", r->registry, r->qualified ? "" : "(none named)");
	printf("repository  %s\n", r->repository);
	if (r->tag[0])
		printf("tag         %s\n", r->tag);
	if (r->digest[0])
		printf("digest      %s\n", r->digest);
	printf("name        %s\n", name);
	if (canonical[0])
		printf("canonical   %s\n", canonical);
}

static int run(struct cli *c, struct error *err)
{
	struct image_reference r;

	if (image_reference_parse(text_of(cli_arg(c, 0)), &r, err) < 0)
		return refuse(c, err);
	print(c, &r);
	return CLI_OK;
}

const struct verb cmd_image_parse = {
	.group = "image",
	.name = "parse",
	.summary = "show the parts of an image reference",
	.args = "REF",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_JSON | VERB_ANY_WORD,
	.help = "Shows how cloop and every engine read the reference, in its normal form: host in "
		"lower case, names of the Docker Hub in full. Nothing is asked from a network or "
		"an "
		"engine.",
	.run = run,
};

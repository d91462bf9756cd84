#include "cli/judge.h"

#include <string.h>

#include "cli/cli.h"
#include "config/config.h"
#include "image/provenance.h"

static int check_image(struct text t, struct error *err)
{
	struct image_reference ignored;

	return image_reference_parse(t, &ignored, err);
}

const struct spec_checks judge_spec_checks = {.image = check_image};

enum image_origin judge_origin(struct cli *c, struct text image)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO(config) config = {0};
	const char *word = cli_option(c, "--origin");

	if (!word || strcmp(word, "operator") != 0)
		return IMAGE_ORIGIN_PROJECT;
	/* A configuration that cannot be used refuses every image, whatever its origin. */
	const char *path = cli_config(c, &ignored);
	if (!path || config_load(path, &config, &ignored) < 0)
		return IMAGE_ORIGIN_OPERATOR;
	return provenance_origin(&config.provenance.published, image);
}

void judge_image(
	struct cli *c, enum image_origin origin, struct text image, struct image_verdict *ret)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(config) config = {0};
	const char *path = cli_policy(c, &err);

	if (path && config_load(path, &config, &err) == 0)
		image_verdict(&config.image_policy, origin, image, ret);
	else
		image_verdict_broken(image, &err, ret);
}

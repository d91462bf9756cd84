#include <stdio.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/judge.h"

static void print(const struct image_verdict *v)
{
	if (!v->allowed) {
		printf("refused (%s): %s\n", image_rule_text(v->rule), v->reason);
		if (v->remedy[0])
			printf("  fix: %s\n", v->remedy);
		return;
	}
	printf("allowed: runs as %s%s\n", v->run_as, v->needs_pin ? ", pinned at the start" : "");
	if (!v->policy_active)
		puts("no rule holds for it: every well-formed reference is allowed");
	if (v->needs_signature)
		puts("cosign must verify its digest before it runs");
}

static int run(struct cli *c, struct error *err)
{
	struct text image = text_of(cli_arg(c, 0));
	struct image_verdict v;

	(void)err;
	judge_image(c, judge_origin(c, image), image, &v);
	if (c->json)
		cli_print_json(image_verdict_to_json(&v, image));
	else
		print(&v);
	return v.allowed ? CLI_OK : CLI_REFUSED;
}

static const struct option options[] = {
	JUDGE_ORIGIN_OPTION,
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_image_check = {
	.group = "image",
	.name = "check",
	.summary = "judge an image reference by the operator's policy",
	.args = "REF",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_JSON | VERB_HOME | VERB_CONFIG | VERB_ANY_WORD,
	.options = options,
	.help = "Says whether a project may name this image, which rule decides, and what an "
		"engine "
		"would be asked for. No network, no engine and no key file is touched; a digest is "
		"looked up only when a run starts. A configuration that cannot be used refuses "
		"every "
		"image. Exits with 0 when it is allowed, with 1 when it is refused.",
	.exits = "0 allowed; 1 refused; 2 wrong usage",
	.run = run,
};

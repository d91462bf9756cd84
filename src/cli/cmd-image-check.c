#include <stdio.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/judge.h"

static json_t *to_json(struct text image, const struct image_verdict *v)
{
	json_t *answer =
		json_pack("{s:o, s:b, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:b}",
			"image", json_from_bytes(image), "allowed", v->allowed, "rule", v->rule,
			"reason", v->reason, "remediation", v->remedy, "registry", v->ref.registry,
			"repository", v->ref.repository, "tag", v->ref.tag, "digest", v->ref.digest,
			"run_as", v->run_as, "needs_pin", v->needs_pin, "needs_signature",
			v->needs_signature, "policy_active", v->policy_active);

	if (v->detail[0])
		json_object_set_new(answer, "detail", json_string(v->detail));
	return answer;
}

static void print(const struct image_verdict *v)
{
	if (!v->allowed) {
		printf("refused (%s): %s\n", v->rule, v->reason);
		if (v->remedy[0])
			printf("  fix: %s\n", v->remedy);
		return;
	}
	printf("allowed: runs as %s%s\n", v->run_as, v->needs_pin ? ", pinned at the start" : "");
	if (!v->policy_active)
		puts("no image policy is active: every well-formed reference is allowed");
}

static int run(struct cli *c, struct error *err)
{
	struct text image = text_of(cli_arg(c, 0));
	struct image_verdict v;

	(void)err;
	judge_image(c, image, &v);
	if (c->json)
		cli_print_json(to_json(image, &v));
	else
		print(&v);
	return v.allowed ? CLI_OK : CLI_REFUSED;
}

const struct verb cmd_image_check = {
	.group = "image",
	.name = "check",
	.summary = "judge an image reference by the operator's policy",
	.args = "REF",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_JSON | VERB_HOME | VERB_CONFIG | VERB_ANY_WORD,
	.help = "Says whether a project may name this image, which rule decides, and what an "
		"engine "
		"would be asked for. No network and no engine is touched; a digest is looked up "
		"only "
		"when a run starts. Exits with 0 when it is allowed, with 1 when it is refused.",
	.run = run,
};

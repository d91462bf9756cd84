#include "executor/container/driver/image-provenance.h"

#include <assert.h>
#include <stdio.h>

enum { WHY_BYTES = 700 };

/* What is told of a state; NULL: it never is. */
static const struct {
	const char *warning; /* code */
	const char *detail;
	const char *fact;
	const char *fix;
} states[] = {
	[PROVENANCE_SKIPPED] = {NULL, NULL, NULL, NULL},
	[PROVENANCE_VERIFIED] = {NULL, NULL, NULL, NULL},
	[PROVENANCE_WRONG] = {NULL, "provenance_wrong",
		"it is named as one of cloop's own images, and none of its signatures is of who "
		"publishes them",
		"do not use it: pull the image anew; for images of your own under such a name say "
		"who signs them in executors.published_images"},
	[PROVENANCE_UNSIGNED] = {"image_unsigned", "provenance_unsigned",
		"it is named as one of cloop's own images, and carries no signature",
		"pull a published image, or let the operator set executors.image_provenance: "
		"warn"},
	[PROVENANCE_UNCHECKED] = {"image_unchecked", "provenance_unchecked",
		"it is named as one of cloop's own images, and its signature could not be checked",
		"install cosign (https://docs.sigstore.dev) and let it reach the registry, or let "
		"the operator set executors.image_provenance: warn"},
};
static_assert(ARRAY_SIZE(states) == PROVENANCE_STATE_COUNT, "words for every state");

bool image_provenance_wanted(const struct run_image_question *q, const struct image_reference *r)
{
	const struct provenance_rules *rules = q->driver->settings.provenance;

	return rules->mode != PROVENANCE_OFF && published_images_have(&rules->published, r);
}

void image_provenance_merge(struct trust_provenance *all, const struct trust_provenance *more)
{
	static const int weight[] = {
		[PROVENANCE_SIGNATURE_ABSENT] = 0,
		[PROVENANCE_SIGNATURE_UNKNOWN] = 1,
		[PROVENANCE_SIGNATURE_PRESENT] = 2,
	};

	/* Without cosign there is no more to be found. */
	if (more->cosign != PROVENANCE_COSIGN_FAIL ||
		weight[more->signature] > weight[all->signature])
		*all = *more;
}

static int refuse(const struct run_image_question *q, enum provenance_state s, const char *reason,
	struct error *err)
{
	struct image_verdict v = *q->verdict;

	image_verdict_refuse(
		&v, IMAGE_RULE_SIGNATURE_REQUIRED, states[s].detail, reason, states[s].fix);
	return image_verdict_error(&v, IMAGE_ORIGIN_PUBLISHED, q->start->request->image, err);
}

int image_provenance_conclude(const struct run_image_question *q, const struct trust_provenance *p,
	struct run_image *i, struct error *err)
{
	struct provenance_question question = {
		.mode = q->driver->settings.provenance->mode,
		.pinned = p,
		.cosign = p ? p->cosign : PROVENANCE_COSIGN_FAIL,
		.signature = p ? p->signature : PROVENANCE_SIGNATURE_UNKNOWN,
	};
	struct provenance_answer a = provenance_decide(&question);
	const char *why = p ? p->reason : "nothing gives it a digest";
	AUTO(str) reason = STR_INIT(ERROR_TEXT_MAX);

	if (a.action == PROVENANCE_RUN)
		return 0;
	str_add_text(&reason, states[a.state].fact);
	if (*why)
		str_addf(&reason, ": %.*s", (int)utf8_cut(text_of(why), WHY_BYTES), why);
	if (a.action == PROVENANCE_REFUSE)
		return refuse(q, a.state, str_text(&reason), err);
	i->provenance_warning = states[a.state].warning;
	snprintf(i->provenance_reason, sizeof(i->provenance_reason), "%s", str_text(&reason));
	return 0;
}

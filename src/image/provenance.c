#include "image/provenance.h"

#include "base/enum-text.h"

static const char *const mode_names[] = {
	[PROVENANCE_OFF] = "off",
	[PROVENANCE_WARN] = "warn",
	[PROVENANCE_REQUIRED] = "required",
};
ENUM_TEXT(provenance_mode, mode_names, PROVENANCE_MODE_COUNT)

static const char *const cosign_names[] = {
	[PROVENANCE_COSIGN_OK] = "ok",
	[PROVENANCE_COSIGN_FAIL] = "fail",
	[PROVENANCE_COSIGN_MISSING] = "missing",
	[PROVENANCE_COSIGN_TIMEOUT] = "timeout",
};
ENUM_TEXT(provenance_cosign, cosign_names, PROVENANCE_COSIGN_COUNT)

static const char *const signature_names[] = {
	[PROVENANCE_SIGNATURE_PRESENT] = "present",
	[PROVENANCE_SIGNATURE_ABSENT] = "absent",
	[PROVENANCE_SIGNATURE_UNKNOWN] = "unknown",
};
ENUM_TEXT(provenance_signature, signature_names, PROVENANCE_SIGNATURE_COUNT)

static const char *const state_names[] = {
	[PROVENANCE_SKIPPED] = "skipped",
	[PROVENANCE_VERIFIED] = "verified",
	[PROVENANCE_WRONG] = "wrong",
	[PROVENANCE_UNSIGNED] = "unsigned",
	[PROVENANCE_UNCHECKED] = "unchecked",
};
static_assert(ARRAY_SIZE(state_names) == PROVENANCE_STATE_COUNT, "a name for every state");

static const char *const action_names[] = {
	[PROVENANCE_RUN] = "run",
	[PROVENANCE_RUN_WITH_WARNING] = "warn",
	[PROVENANCE_REFUSE] = "refuse",
};
static_assert(ARRAY_SIZE(action_names) == PROVENANCE_ACTION_COUNT, "a name for every action");

const char *provenance_state_text(enum provenance_state s)
{
	return state_names[s];
}

const char *provenance_action_text(enum provenance_action a)
{
	return action_names[a];
}

static enum provenance_state state_of(const struct provenance_question *q)
{
	if (q->mode == PROVENANCE_OFF)
		return PROVENANCE_SKIPPED;
	if (!q->pinned)
		return PROVENANCE_UNCHECKED;
	if (q->cosign == PROVENANCE_COSIGN_OK)
		return PROVENANCE_VERIFIED;
	if (q->cosign != PROVENANCE_COSIGN_FAIL || q->signature == PROVENANCE_SIGNATURE_UNKNOWN)
		return PROVENANCE_UNCHECKED;
	return q->signature == PROVENANCE_SIGNATURE_PRESENT ? PROVENANCE_WRONG
							    : PROVENANCE_UNSIGNED;
}

struct provenance_answer provenance_decide(const struct provenance_question *q)
{
	struct provenance_answer a = {PROVENANCE_REFUSE, state_of(q)};

	if (a.state == PROVENANCE_SKIPPED || a.state == PROVENANCE_VERIFIED)
		a.action = PROVENANCE_RUN;
	else if (a.state != PROVENANCE_WRONG && q->mode == PROVENANCE_WARN)
		a.action = PROVENANCE_RUN_WITH_WARNING;
	return a;
}

enum image_origin provenance_origin(const struct published_images *p, struct text image)
{
	auto_error struct error ignored = ERROR_INIT;
	struct image_reference r;

	return image_reference_parse(image, &r, &ignored) == 0 && published_images_have(p, &r)
		       ? IMAGE_ORIGIN_PUBLISHED
		       : IMAGE_ORIGIN_OPERATOR;
}

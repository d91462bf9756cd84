#include "image/outcome.h"

#include "base/enum-text.h"

static const char *const result_names[] = {
	[PIN_PINNED] = "pinned",
	[PIN_NO_DIGEST] = "no_digest",
	[PIN_UNRESOLVED] = "unresolved",
};
ENUM_TEXT(pin_result, result_names, PIN_RESULT_COUNT)

static const char *const action_names[] = {
	[PIN_RUN_DIGEST] = "run_digest",
	[PIN_RUN_ID] = "run_id",
	[PIN_RUN_TAG] = "run_tag",
	[PIN_REFUSE] = "refuse",
};
ENUM_TEXT(pin_action, action_names, PIN_ACTION_COUNT)

static struct pin_outcome refuse(enum image_rule rule)
{
	return (struct pin_outcome){.action = PIN_REFUSE, .rule = rule};
}

struct pin_outcome pin_outcome_of(
	const struct image_policy *p, enum image_origin origin, enum pin_result result)
{
	bool verify = p->require_signature && image_verdict_governs(p, origin);

	if (result == PIN_PINNED)
		return (struct pin_outcome){.action = PIN_RUN_DIGEST, .verify = verify};
	if (result == PIN_NO_DIGEST && verify)
		return refuse(IMAGE_RULE_SIGNATURE_REQUIRED);
	if (result == PIN_NO_DIGEST)
		return (struct pin_outcome){.action = PIN_RUN_ID, .warn = image_policy_active(p)};
	/* Of any origin: nobody else will find the digest either. */
	if (p->require_digest || p->require_signature)
		return refuse(IMAGE_RULE_DIGEST_RESOLUTION);
	return (struct pin_outcome){.action = PIN_RUN_TAG, .warn = true};
}

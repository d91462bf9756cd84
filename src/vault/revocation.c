#include "vault/revocation.h"

#include "base/enum-text.h"

static const char *const actions[] = {
	[REVOCATION_SCRUB] = "scrub",
	[REVOCATION_KILL] = "kill",
};
ENUM_TEXT(revocation_action, actions, REVOCATION_ACTION_COUNT)

static const char *const run_words[] = {
	[REVOCATION_DONE] = "done",
	[REVOCATION_FAILED] = "failed",
	[REVOCATION_UNREACHABLE] = "unreachable",
	[REVOCATION_PENDING] = "pending",
};
ENUM_TEXT(revocation_run, run_words, REVOCATION_RUN_COUNT)

static const char *const states[] = {
	[REVOCATION_STATE_REVOKED] = "revoked",
	[REVOCATION_STATE_PENDING] = "revoke_pending",
	[REVOCATION_STATE_UNREACHABLE] = "unreachable",
	[REVOCATION_STATE_FAILED] = "failed",
};
ENUM_TEXT(revocation_state, states, REVOCATION_STATE_COUNT)

bool revocation_kind_wiped(struct text kind)
{
	static const char *const kinds[] = {"file", "registry", "kubeconfig", "egress"};

	return enum_from_text(kinds, ARRAY_SIZE(kinds), kind) >= 0;
}

enum revocation_action revocation_action(
	const struct revocation_binding *b, size_t n, enum revocation_action requested)
{
	for (size_t i = 0; i < n; i++)
		if (b[i].has_env || !revocation_kind_wiped(b[i].kind))
			return REVOCATION_KILL;
	return requested;
}

enum revocation_state revocation_state(const enum revocation_run *runs, size_t n, size_t unrecorded)
{
	size_t count[REVOCATION_RUN_COUNT] = {0};

	for (size_t i = 0; i < n; i++)
		count[runs[i]]++;
	if (count[REVOCATION_FAILED] > 0 || unrecorded > 0)
		return REVOCATION_STATE_FAILED;
	if (count[REVOCATION_PENDING] > 0)
		return REVOCATION_STATE_PENDING;
	if (count[REVOCATION_UNREACHABLE] > 0)
		return REVOCATION_STATE_UNREACHABLE;
	return REVOCATION_STATE_REVOKED;
}

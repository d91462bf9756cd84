#include "trust/provenance.h"

#include <assert.h>
#include <stdio.h>

#include "image/registry/registry.h"
#include "trust/verify.h"

static const enum provenance_cosign ends[] = {
	[TRUST_VERIFIED] = PROVENANCE_COSIGN_OK,
	[TRUST_FAILED] = PROVENANCE_COSIGN_FAIL,
	[TRUST_MISSING] = PROVENANCE_COSIGN_MISSING,
	[TRUST_TIMED_OUT] = PROVENANCE_COSIGN_TIMEOUT,
	[TRUST_NEVER] = PROVENANCE_COSIGN_TIMEOUT,
	[TRUST_BAD_KEY] = PROVENANCE_COSIGN_TIMEOUT,
};
static_assert(ARRAY_SIZE(ends) == TRUST_END_COUNT, "an end for every end");

static void say(struct trust_provenance *p, const char *reason)
{
	snprintf(p->reason, sizeof(p->reason), "%s", reason);
}

/* A policy of these values alone: the fingerprint of what is kept follows from it (§8.3). */
static int verify(
	const struct trust_provenance_question *q, struct trust_answer *ret, struct error *err)
{
	struct policy_identity signer = {
		q->rules->published.issuer, q->rules->published.subject_regexp};
	struct image_policy values = {
		.allowed_repos = q->rules->published.repositories,
		.require_signature = true,
		.cosign_identities = {.v = &signer, .n = 1},
	};
	struct trust_question question = {
		.policy = &values,
		.image = q->image,
		.home = q->home,
		.deadline_ms = q->deadline_ms,
		.cancel_fd = q->cancel_fd,
	};

	return trust_verify(&question, ret, err);
}

/* Is there a signature at all? Never read from what cosign says. */
static int ask_registry(
	const struct trust_provenance_question *q, struct trust_provenance *ret, struct error *err)
{
	auto_error struct error why = ERROR_INIT;
	AUTO(login_found) login = {.file = NULL};
	struct registry_question question = {
		.policy = q->policy,
		.origin = IMAGE_ORIGIN_PUBLISHED,
		.ref = q->image,
		.login = &login,
		.cancel_fd = q->cancel_fd,
	};

	if (logins_find(q->image, &login, &why) < 0) {
		say(ret, why.message);
		return 0;
	}
	int r = registry_signature(&question, q->image->digest, &ret->signature, &why);
	if (r < 0) {
		error_move(err, &why);
		return -1;
	}
	if (r == REGISTRY_UNKNOWN)
		say(ret, why.message);
	return 0;
}

int trust_provenance_ask(
	const struct trust_provenance_question *q, struct trust_provenance *ret, struct error *err)
{
	AUTO(trust_answer) answer = {.attempts = NULL};

	*ret = (struct trust_provenance){
		.cosign = PROVENANCE_COSIGN_TIMEOUT, .signature = PROVENANCE_SIGNATURE_UNKNOWN};
	if (verify(q, &answer, err) < 0) {
		if (error_is(err, ERROR_START_CANCELLED))
			return -1;
		say(ret, err->message);
		error_clear(err);
		return 0;
	}
	ret->cosign = ends[answer.end];
	say(ret, answer.reason);
	return ret->cosign == PROVENANCE_COSIGN_FAIL ? ask_registry(q, ret, err) : 0;
}

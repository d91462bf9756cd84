#include "executor/container/driver/image-signature.h"

#include <assert.h>
#include <string.h>

#include "image/outcome.h"
#include "trust/verify.h"

/* What of the pinned image is asked, and until when. */
struct candidates {
	char digests[IMAGE_CANDIDATES_MAX][IMAGE_DIGEST_MAX + 1];
	size_t n;
	int64_t deadline_ms;
};

static void list_candidates(const struct image_identity *i, struct candidates *ret)
{
	*ret = (struct candidates){
		.n = i->n_candidates ? i->n_candidates : 1, .deadline_ms = trust_deadline()};
	memcpy(ret->digests, i->candidates, sizeof(ret->digests));
	if (i->n_candidates == 0)
		memcpy(ret->digests[0], i->digest, sizeof(i->digest));
}

static int refuse(
	const struct run_image_question *q, const struct trust_answer *a, struct error *err)
{
	struct image_verdict v = *q->verdict;
	enum image_rule rule = a->end == TRUST_BAD_KEY ? IMAGE_RULE_POLICY_CONFIGURATION
						       : IMAGE_RULE_SIGNATURE_REQUIRED;

	image_verdict_refuse(&v, rule, trust_end_detail(a->end), a->reason, a->remedy);
	image_verdict_error(&v, q->start->image_origin, q->start->request->image, err);
	if (a->attempts)
		error_add_detail(err, "attempts", json_incref(a->attempts));
	return -1;
}

static int refuse_unpinned(const struct run_image_question *q, struct error *err)
{
	static const struct trust_answer no_digest = {
		.end = TRUST_NEVER,
		.reason = "sandbox.image_policy.require_signature is set, and nothing gives the "
			  "image in the engine's store a digest that could be signed",
		.remedy = "push the image to a registry, sign it there, and pull it again",
	};

	return refuse(q, &no_digest, err);
}

/* The answer for one digest. */
static int verify(const struct run_image_question *q, const struct image_identity *i,
	const char *digest, int64_t deadline_ms, struct trust_answer *ret, struct error *err)
{
	struct image_reference pinned = i->ref;
	struct trust_question question = {
		.policy = q->driver->policy,
		.image = &pinned,
		.home = q->home,
		.deadline_ms = deadline_ms,
		.cancel_fd = q->start->cancel_fd,
	};

	memcpy(pinned.digest, digest, strlen(digest) + 1);
	return trust_verify(&question, ret, err);
}

/* In their order, until one is verified; what is told of a refusal is told of the first. */
static int verify_candidates(
	const struct run_image_question *q, struct image_identity *i, struct error *err)
{
	AUTO(trust_answer) first = {.attempts = NULL};
	struct candidates c;

	list_candidates(i, &c);
	for (size_t k = 0; k < c.n; k++) {
		AUTO(trust_answer) a = {.attempts = NULL};
		if (verify(q, i, c.digests[k], c.deadline_ms, &a, err) < 0)
			return -1;
		if (a.end == TRUST_VERIFIED) {
			image_identity_settle(i, c.digests[k]);
			return 0;
		}
		if (k > 0 && a.end == TRUST_FAILED)
			continue;
		trust_answer_done(&first);
		first = a;
		a.attempts = NULL;
		if (first.end != TRUST_FAILED)
			break;
	}
	return refuse(q, &first, err);
}

int image_signature_settle(
	const struct run_image_question *q, struct run_image *i, struct error *err)
{
	struct image_identity *identity = &i->stored.identity;
	enum pin_result result = identity->reproducible ? PIN_PINNED : PIN_NO_DIGEST;
	struct pin_outcome outcome =
		pin_outcome_of(q->driver->policy, q->start->image_origin, result);

	i->not_pinned = outcome.warn;
	if (outcome.action == PIN_REFUSE)
		return refuse_unpinned(q, err);
	return outcome.verify ? verify_candidates(q, identity, err) : 0;
}

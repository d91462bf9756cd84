/*
 * Two rules may want a signature: the policy's (§8) and that of cloop's own images (§9). Each is
 * asked for the candidates in their order, and the first that passes both is what runs; one that
 * passes only the policy's is what a warning is about.
 */
#include "executor/container/driver/image-signature.h"

#include <string.h>

#include "executor/container/driver/image-provenance.h"
#include "image/outcome.h"
#include "trust/verify.h"

struct search {
	const struct run_image_question *q;
	const struct image_identity *identity;
	bool verify; /* by the policy */
	bool own;    /* by the provenance of cloop's own images */
	int64_t deadline_ms;
	struct trust_answer refusal;        /* of the policy, for the first candidate */
	const char *allowed;                /* the first digest that passed the policy, or NULL */
	struct trust_provenance provenance; /* of those that did */
};

static void search_done(struct search *s)
{
	trust_answer_done(&s->refusal);
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

/* Whether the digest is the one, or the search goes on, or ends without it. */
enum verdict { THIS_ONE, NEXT, NO_MORE };

static int ask_policy(struct search *s, const struct image_reference *pinned, enum verdict *ret,
	struct error *err)
{
	AUTO(trust_answer) a = {.attempts = NULL};
	struct trust_question question = {
		.policy = s->q->driver->settings.policy,
		.image = pinned,
		.home = s->q->home,
		.deadline_ms = s->deadline_ms,
		.cancel_fd = s->q->start->cancel_fd,
	};

	if (trust_verify(&question, &a, err) < 0)
		return -1;
	*ret = a.end == TRUST_VERIFIED ? THIS_ONE : a.end == TRUST_FAILED ? NEXT : NO_MORE;
	if (*ret == NO_MORE || (*ret == NEXT && !s->refusal.reason[0])) {
		trust_answer_done(&s->refusal);
		s->refusal = a;
		a.attempts = NULL;
	}
	return 0;
}

static int ask_provenance(struct search *s, const struct image_reference *pinned, enum verdict *ret,
	struct error *err)
{
	struct trust_provenance p;
	struct trust_provenance_question question = {
		.rules = s->q->driver->settings.provenance,
		.policy = s->q->driver->settings.policy,
		.image = pinned,
		.home = s->q->home,
		.deadline_ms = s->deadline_ms,
		.cancel_fd = s->q->start->cancel_fd,
	};

	if (trust_provenance_ask(&question, &p, err) < 0)
		return -1;
	*ret = p.cosign == PROVENANCE_COSIGN_OK     ? THIS_ONE
	       : p.cosign == PROVENANCE_COSIGN_FAIL ? NEXT
						    : NO_MORE;
	if (s->allowed)
		image_provenance_merge(&s->provenance, &p);
	else
		s->provenance = p;
	return 0;
}

static int ask(struct search *s, const char *digest, enum verdict *ret, struct error *err)
{
	struct image_reference pinned = s->identity->ref;

	memcpy(pinned.digest, digest, strlen(digest) + 1);
	*ret = THIS_ONE;
	if (s->verify && ask_policy(s, &pinned, ret, err) < 0)
		return -1;
	if (*ret != THIS_ONE || !s->own)
		return 0;
	if (ask_provenance(s, &pinned, ret, err) < 0)
		return -1;
	if (!s->allowed)
		s->allowed = digest;
	return 0;
}

/* *ret: the digest that passed everything; NULL = none did. */
static int find(struct search *s, const char **ret, struct error *err)
{
	const struct image_identity *i = s->identity;
	size_t n = i->n_candidates ? i->n_candidates : 1;
	enum verdict v = NEXT;

	*ret = NULL;
	for (size_t k = 0; k < n && v == NEXT; k++) {
		const char *digest = i->n_candidates ? i->candidates[k] : i->digest;
		if (ask(s, digest, &v, err) < 0)
			return -1;
		if (v == THIS_ONE)
			*ret = digest;
	}
	return 0;
}

static int settle(struct search *s, struct run_image *i, struct error *err)
{
	const char *digest;

	if (find(s, &digest, err) < 0)
		return -1;
	bool verified = digest;
	if (!verified && !s->allowed)
		return refuse(s->q, &s->refusal, err);
	image_identity_settle(&i->stored.identity, verified ? digest : s->allowed);
	return verified ? 0 : image_provenance_conclude(s->q, &s->provenance, i, err);
}

int image_signature_settle(
	const struct run_image_question *q, struct run_image *i, struct error *err)
{
	const struct image_identity *identity = &i->stored.identity;
	enum pin_result result = identity->reproducible ? PIN_PINNED : PIN_NO_DIGEST;
	struct pin_outcome outcome =
		pin_outcome_of(q->driver->settings.policy, q->start->image_origin, result);
	__attribute__((cleanup(search_done))) struct search s = {
		.q = q,
		.identity = identity,
		.verify = outcome.verify,
		.own = image_provenance_wanted(q, &identity->ref),
	};

	i->not_pinned = outcome.warn;
	if (outcome.action == PIN_REFUSE)
		return refuse_unpinned(q, err);
	if (!identity->reproducible)
		return s.own ? image_provenance_conclude(q, NULL, i, err) : 0;
	if (!s.verify && !s.own)
		return 0;
	s.deadline_ms = trust_deadline();
	return settle(&s, i, err);
}

#include "image/cosign-argv.h"

#include <assert.h>
#include <string.h>

void cosign_attempts_done(struct cosign_attempts *a)
{
	for (size_t i = 0; i < a->n; i++)
		strv_done(&a->argv[i]);
	a->n = 0;
}

static void add(struct strv *l, const char *word)
{
	int added = strv_add(l, word);

	assert(added == 0);
}

static struct strv *begin(struct cosign_attempts *a)
{
	assert(a->n < COSIGN_ATTEMPTS_MAX);
	struct strv *l = &a->argv[a->n++];
	*l = STRV_INIT(COSIGN_WORDS_MAX);
	add(l, "cosign");
	add(l, "verify");
	return l;
}

static void end(struct strv *l, const char *image)
{
	add(l, "--output");
	add(l, "text");
	add(l, "--");
	add(l, image);
}

static bool same(const struct policy_identity *a, const struct policy_identity *b)
{
	return strcmp(a->issuer, b->issuer) == 0 &&
	       strcmp(a->subject_regexp, b->subject_regexp) == 0;
}

static bool key_before(const struct strv *keys, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(keys->v[k], keys->v[i]) == 0)
			return true;
	return false;
}

static bool identity_before(const struct image_policy *p, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same(image_policy_identity(p, k), image_policy_identity(p, i)))
			return true;
	return false;
}

int cosign_argv_build(const struct image_policy *p, const struct image_reference *r,
	struct cosign_attempts *ret, struct error *err)
{
	const struct strv *keys = &p->cosign_public_keys.items;
	char image[IMAGE_TEXT_MAX + 1];

	ret->n = 0;
	image_reference_canonical(r, image);
	if (!*image)
		return error_set(err, ERROR_SANDBOX_IMAGE_DENIED,
			"only a digest can be verified, and the image has none");
	if (!*r->registry || strcmp(r->registry, "localhost") == 0)
		return error_set(err, ERROR_SANDBOX_IMAGE_DENIED,
			"%s is at no registry that signatures could come from", image);
	for (size_t i = 0; i < keys->n; i++) {
		if (key_before(keys, i))
			continue;
		struct strv *l = begin(ret);
		add(l, "--key");
		add(l, keys->v[i]);
		if (p->cosign_ignore_tlog)
			add(l, "--insecure-ignore-tlog");
		end(l, image);
	}
	for (size_t i = 0; i < p->cosign_identities.n; i++) {
		if (identity_before(p, i))
			continue;
		struct strv *l = begin(ret);
		add(l, "--certificate-oidc-issuer");
		add(l, image_policy_identity(p, i)->issuer);
		add(l, "--certificate-identity-regexp");
		add(l, image_policy_identity(p, i)->subject_regexp);
		end(l, image);
	}
	return 0;
}

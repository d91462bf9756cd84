/*
 * What an engine says of an image (image-trust.md §5.1). Input: a reference, a line break, the
 * answer of `image inspect`. What is chosen is what was asked for: its name, and its digest if it
 * carries one; what is pinned is a digest that the answer lists for that name.
 */
#include <assert.h>
#include <string.h>

#include "image/derived.h"
#include "image/identity.h"

#define JSON_AT(data, size) \
	(memchr(data, '\n', size) ? (size_t)((uint8_t *)memchr(data, '\n', size) - (data)) + 1 \
				  : size)
#include "json-mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const struct image_reference *asked, const struct image_reference *got)
{
	assert(!*asked->registry || strcmp(asked->registry, got->registry) == 0);
	assert(!*asked->registry || strcmp(asked->repository, got->repository) == 0);
	assert(!*asked->digest || strcmp(asked->digest, got->digest) == 0);
}

static void check_pinned(const struct image_identity *i, struct text answer)
{
	auto_error struct error err = ERROR_INIT;
	struct image_reference run;

	int parsed = image_reference_parse(text_of(i->run), &run, &err);
	assert(parsed == 0 && strcmp(run.digest, i->digest) == 0);
	assert(strcmp(run.registry, "localhost") != 0 && strcmp(i->run, i->image) == 0);
	assert(image_digest_valid(text_of(i->digest)) && text_has(answer, i->digest));
	assert(i->n_candidates != 1 && i->n_candidates <= IMAGE_CANDIDATES_MAX);
	for (size_t c = 0; c < i->n_candidates; c++)
		for (size_t d = 0; d < c; d++)
			assert(strcmp(i->candidates[c], i->candidates[d]) != 0);
	if (i->n_candidates == 0)
		return;
	struct image_identity settled = *i;
	image_identity_settle(&settled, i->candidates[1]);
	assert(strcmp(settled.digest, i->candidates[1]) == 0 && settled.n_candidates == 0);
}

static void choose(enum image_store store, const struct image_reference *asked,
	const json_t *inspect, struct text answer)
{
	auto_error struct error err = ERROR_INIT;
	struct image_identity i;
	int r = image_identity_choose(store, asked, inspect, &i, &err);

	if (r < 0) {
		assert(error_is(&err, ERROR_ENGINE_FAILED) || error_is(&err, ERROR_IMAGE_MISSING));
		return;
	}
	assert(image_digest_valid(text_of(i.id)) && i.reproducible == (r == 0));
	check_same(asked, &i.ref);
	if (r == 0)
		check_pinned(&i, answer);
	else
		assert(strcmp(i.run, i.id) == 0 && !*i.digest && i.n_candidates == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	struct text answer = {(const char *)data, size}, name;
	const struct setup_facts facts = {.base = "x", .n_commands = 1};
	struct image_reference asked;

	if (!text_split(&answer, '\n', &name) || !answer.p ||
		image_reference_parse(name, &asked, &err) < 0)
		return 0;
	auto_json *inspect = image_inspect_read(answer, &err);
	for (int store = IMAGE_STORE_PODMAN; store <= IMAGE_STORE_DOCKER; store++) {
		int said = image_inspect_explain((enum image_store)store, &asked, answer, &err);
		assert(said == 0 || error_is(&err, ERROR_ENGINE_FAILED) ||
			error_is(&err, ERROR_IMAGE_MISSING));
		if (inspect)
			choose((enum image_store)store, &asked, inspect, answer);
	}
	if (!inspect)
		return 0;
	(void)image_inspect_architecture(inspect);
	/* The image is no derivation of itself, since each adds to the history. */
	(void)derived_matches(inspect, inspect, &facts, "key");
	(void)derived_base_has_triggers(inspect);
	assert(!derived_history_matches(inspect, inspect, &facts));
	return 0;
}

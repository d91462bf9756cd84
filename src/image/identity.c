/*
 * An engine resolves more than was asked: prefixes of IDs, and on podman any `…/x` for `x`; and it
 * lists every name with every digest that it knows of the image. So nothing of the answer is
 * believed by its position: the entries are parsed by our grammar and matched with what was asked.
 */
#include "image/identity.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

/* The entries of RepoTags or RepoDigests that parse, each with a registry. */
struct entries {
	struct image_reference *v;
	size_t n;
};

static void entries_done(struct entries *e)
{
	free(e->v);
}

/* What was asked, and what the engine lists. */
struct question {
	enum image_store store;
	const struct image_reference *asked;
	struct entries tags, digests;
};

static void question_done(struct question *q)
{
	entries_done(&q->tags);
	entries_done(&q->digests);
}

static int engine_answer(struct error *err, const char *fault)
{
	return error_set(err, ERROR_ENGINE_FAILED, "answer of image inspect: %s", fault);
}

/* Reads an unqualified reference as one of Docker Hub. */
static bool parse_hub(struct text t, struct image_reference *ret)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO(str) hub = STR_INIT(2 * IMAGE_TEXT_MAX);

	str_add_text(&hub, "docker.io/");
	str_add(&hub, t.p, t.len);
	return image_reference_parse((struct text){str_text(&hub), hub.len}, ret, &ignored) == 0;
}

/* An entry without a registry is Docker Hub's on docker, and nobody's on podman. */
static bool parse_entry(enum image_store store, struct text t, struct image_reference *ret)
{
	auto_error struct error ignored = ERROR_INIT;

	if (image_reference_parse(t, ret, &ignored) < 0)
		return false;
	return *ret->registry || (store == IMAGE_STORE_DOCKER && parse_hub(t, ret));
}

/* null and absent are empty; what does not parse is left out. */
static int read_entries(
	enum image_store store, const json_t *list, struct entries *ret, struct error *err)
{
	size_t n = json_array_size(list);

	if (list && !json_is_null(list) && !json_is_array(list))
		return engine_answer(err, "names that are not a list");
	for (size_t i = 0; i < n; i++) {
		struct image_reference entry;
		if (!parse_entry(store, json_text(json_array_get(list, i)), &entry))
			continue;
		ret->v = mem_grow(ret->v, ret->n + 1, sizeof(*ret->v));
		ret->v[ret->n++] = entry;
	}
	return 0;
}

static int read_id(const json_t *inspect, char ret[IMAGE_DIGEST_MAX + 1], struct error *err)
{
	struct text id = json_get_text(inspect, "Id");
	AUTO(str) full = STR_INIT(IMAGE_DIGEST_MAX);

	if (!image_digest_valid(id))
		str_add_text(&full, "sha256:");
	str_add(&full, id.len ? id.p : "", id.len);
	if (str_full(&full) || !image_digest_valid((struct text){str_text(&full), full.len}))
		return engine_answer(err, "no image ID");
	memcpy(ret, str_text(&full), full.len + 1);
	return 0;
}

/* Whether the entry has the asked name, or one that an unqualified name means in this store. */
static bool name_fits(const struct question *q, const struct image_reference *entry)
{
	struct image_reference hub;
	char name[IMAGE_TEXT_MAX + 1], tail[IMAGE_NAME_MAX + 2] = "/";

	if (*q->asked->registry)
		return image_reference_same_name(q->asked, entry);
	if (q->store == IMAGE_STORE_DOCKER)
		return parse_hub(text_of(q->asked->repository), &hub) &&
		       image_reference_same_name(&hub, entry);
	image_reference_name(entry, name);
	memcpy(tail + 1, q->asked->repository, strlen(q->asked->repository) + 1);
	return text_ends(text_of(name), tail);
}

/* Steps 2 to 4: the first name of the asked tag or digest. NULL: there is none. */
static const struct image_reference *find_name(const struct question *q, bool *ret_only)
{
	const struct image_reference *asked = q->asked, *found = NULL;
	const struct entries *entries = *asked->digest ? &q->digests : &q->tags;

	*ret_only = true;
	for (size_t i = 0; i < entries->n; i++) {
		const struct image_reference *e = &entries->v[i];
		bool same = *asked->digest ? strcmp(e->digest, asked->digest) == 0
					   : strcmp(e->tag, image_reference_tag(asked)) == 0;
		if (!same || !name_fits(q, e))
			continue;
		if (!found)
			found = e;
		else if (!image_reference_same_name(found, e))
			*ret_only = false;
	}
	return found;
}

/* A digest that the asked name stands for; `ref` is the name it was found to be. */
static bool is_candidate(const struct image_reference *ref, const struct image_reference *entry)
{
	return *entry->digest && image_reference_same_name(ref, entry) &&
	       (!*ref->digest || strcmp(ref->digest, entry->digest) == 0);
}

/* The least candidate above `after`; NULL: none. */
static const char *next_digest(
	const struct entries *digests, const struct image_reference *ref, const char *after)
{
	const char *least = NULL;

	for (size_t i = 0; i < digests->n; i++) {
		const char *d = digests->v[i].digest;
		if (is_candidate(ref, &digests->v[i]) && strcmp(d, after) > 0 &&
			(!least || strcmp(d, least) < 0))
			least = d;
	}
	return least;
}

static bool is_listed(
	const struct entries *digests, const struct image_reference *ref, struct text digest)
{
	for (size_t i = 0; i < digests->n; i++)
		if (is_candidate(ref, &digests->v[i]) && text_is(digest, digests->v[i].digest))
			return true;
	return false;
}

/* Step 6: the engine's own digest first if it is one of them, then ascending. */
static void list_candidates(
	const struct entries *digests, struct text own, struct image_identity *ret)
{
	const char *last = "";
	size_t n = 0;

	if (is_listed(digests, &ret->ref, own))
		memcpy(ret->candidates[n++], own.p, own.len);
	while (n < IMAGE_CANDIDATES_MAX && (last = next_digest(digests, &ret->ref, last)))
		if (!text_is(own, last))
			memcpy(ret->candidates[n++], last, strlen(last));
	ret->n_candidates = n;
}

/* Step 5: present, but nothing gives it a digest. */
static int run_by_id(struct image_identity *ret)
{
	memcpy(ret->run, ret->id, sizeof(ret->id));
	return IMAGE_NO_DIGEST;
}

/* The digest is one of `candidates`. */
static void pin(struct image_identity *i, const char *digest)
{
	struct image_reference pinned = i->ref;

	memcpy(i->digest, digest, strlen(digest) + 1);
	memcpy(pinned.digest, i->digest, sizeof(pinned.digest));
	image_reference_canonical(&pinned, i->run);
	memcpy(i->image, i->run, sizeof(i->image));
}

void image_identity_settle(struct image_identity *i, const char *digest)
{
	char settled[IMAGE_DIGEST_MAX + 1];

	assert(i->reproducible && strlen(digest) <= IMAGE_DIGEST_MAX);
	memcpy(settled, digest, strlen(digest) + 1);
	pin(i, settled);
	i->n_candidates = 0;
}

static int run_by_digest(struct image_identity *ret)
{
	pin(ret, ret->candidates[0]);
	ret->reproducible = true;
	if (ret->n_candidates == 1)
		ret->n_candidates = 0;
	return 0;
}

static int choose(const struct question *q, struct text own_digest, struct image_identity *ret,
	struct error *err)
{
	bool only;
	const struct image_reference *name = find_name(q, &only);

	if (!name)
		return image_inspect_missing(q->store, q->asked, err);
	ret->ref = *q->asked;
	if (!only) {
		image_reference_render(q->asked, ret->image);
		ret->warning = "ambiguous_name";
		return run_by_id(ret);
	}
	memcpy(ret->ref.registry, name->registry, sizeof(name->registry));
	memcpy(ret->ref.repository, name->repository, sizeof(name->repository));
	if (strcmp(name->registry, "localhost") != 0)
		list_candidates(&q->digests, own_digest, ret);
	if (ret->n_candidates > 0)
		return run_by_digest(ret);
	image_reference_run_as(&ret->ref, ret->image);
	return run_by_id(ret);
}

int image_identity_choose(enum image_store store, const struct image_reference *asked,
	const json_t *inspect, struct image_identity *ret, struct error *err)
{
	AUTO(question) q = {.store = store, .asked = asked};
	struct image_identity identity = {0};

	if (read_id(inspect, identity.id, err) < 0 ||
		read_entries(store, json_object_get(inspect, "RepoTags"), &q.tags, err) < 0 ||
		read_entries(store, json_object_get(inspect, "RepoDigests"), &q.digests, err) < 0)
		return -1;
	int outcome = choose(&q, json_get_text(inspect, "Digest"), &identity, err);
	if (outcome >= 0)
		*ret = identity;
	return outcome;
}

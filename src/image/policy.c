/*
 * Matching is looking up: every entry that could admit a name is a text that is made from the name,
 * so the cost grows with the name's parts and not with the list.
 */
#include "image/policy.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "image/host.h"
#include "image/policy-entry.h"

void image_policy_done(struct image_policy *p)
{
	struct policy_identity *identities = p->cosign_identities.v;

	for (size_t i = 0; i < p->cosign_identities.n; i++) {
		free(identities[i].issuer);
		free(identities[i].subject_regexp);
	}
	free(identities);
	strv_done(&p->allowed_registries.items);
	strv_done(&p->allowed_repos.items);
	strv_done(&p->cosign_public_keys.items);
	strv_done(&p->insecure_registries.items);
	free(p->default_registry);
	free(p->registry_index);
	free(p->repo_index);
	*p = (struct image_policy){.default_registry = NULL};
}

const struct policy_identity *image_policy_identity(const struct image_policy *p, size_t i)
{
	assert(i < p->cosign_identities.n);
	return (const struct policy_identity *)p->cosign_identities.v + i;
}

bool image_policy_active(const struct image_policy *p)
{
	return p->allowed_registries.items.n > 0 || p->allowed_repos.items.n > 0 ||
	       p->require_digest || p->require_signature;
}

/* ---- Indices ---- */

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char **index_of(const struct strv *list)
{
	const char **index = mem_alloc(list->n * sizeof(*index));

	for (size_t i = 0; i < list->n; i++)
		index[i] = list->v[i];
	if (list->n > 1)
		qsort(index, list->n, sizeof(*index), compare);
	return index;
}

void image_policy_index(struct image_policy *p)
{
	free(p->registry_index);
	free(p->repo_index);
	p->registry_index = index_of(&p->allowed_registries.items);
	p->repo_index = index_of(&p->allowed_repos.items);
}

static bool find(const char *const *index, size_t n, const char *entry)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(entry, index[middle]);
		if (order == 0)
			return true;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

/* ---- Registries ---- */

static bool has_registry(const struct image_policy *p, const char *entry)
{
	return find(p->registry_index, p->allowed_registries.items.n, entry);
}

bool image_policy_names_registry(const struct image_policy *p, const char *registry)
{
	char entry[POLICY_ENTRY_SIZE] = "*";

	if (registry[0] == '\0')
		return false;
	if (has_registry(p, registry))
		return true;
	/* "*.b.c", "*.c" of "a.b.c": a port is part of every suffix. */
	for (const char *dot = strchr(registry, '.'); dot; dot = strchr(dot + 1, '.')) {
		memcpy(entry + 1, dot, strlen(dot) + 1);
		if (has_registry(p, entry))
			return true;
	}
	return false;
}

bool image_policy_admits_registry(const struct image_policy *p, const char *registry)
{
	if (p->allowed_registries.items.n == 0)
		return true;
	return image_policy_names_registry(p, registry) ||
	       (registry[0] != '\0' && has_registry(p, "*"));
}

/* ---- Repositories ---- */

static bool has_repo(const struct image_policy *p, const char *entry)
{
	return find(p->repo_index, p->allowed_repos.items.n, entry);
}

/* The name itself, or one of what it lies below: "a/b/c" has the entries "a/b/STAR", "a/STAR". */
static bool has_name(const struct image_policy *p, const char *name)
{
	char entry[POLICY_ENTRY_SIZE];
	size_t n = strlen(name);

	if (has_repo(p, name))
		return true;
	memcpy(entry, name, n);
	for (; n > 0; n--) {
		if (name[n - 1] != '/')
			continue;
		entry[n] = '*';
		entry[n + 1] = '\0';
		if (has_repo(p, entry))
			return true;
	}
	return false;
}

/*
 * A repository such as "a.b/c" of some registry is none that an entry could name alone: there
 * "a.b" reads as a registry.
 */
static bool reads_as_registry(const char *repository)
{
	struct text rest = text_of(repository), first;

	text_split(&rest, '/', &first);
	return registry_named(first);
}

bool image_policy_admits_repository(const struct image_policy *p, const struct image_reference *r)
{
	static const char official[] = "library/";
	char name[IMAGE_TEXT_MAX + 1];

	if (p->allowed_repos.items.n == 0)
		return true;
	image_reference_name(r, name);
	if (*r->registry && has_name(p, name))
		return true;
	if (reads_as_registry(r->repository))
		return false;
	if (has_name(p, r->repository))
		return true;
	/* On the Hub an exact entry of one component means the official image. */
	size_t n = strlen(official);
	return strcmp(r->registry, "docker.io") == 0 && strncmp(r->repository, official, n) == 0 &&
	       !strchr(r->repository + n, '/') && has_repo(p, r->repository + n);
}

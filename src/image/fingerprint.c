#include "image/fingerprint.h"

#include <stdlib.h>

#include "base/mem.h"
#include "image/netstring.h"

/* More than the largest valid policy gives. */
enum { BYTES_MAX = 4 << 20 };

/* An item of one or two texts. */
struct pair {
	const char *first, *second; /* second: NULL = none */
};

static int compare(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int order = strcmp(x->first, y->first);

	return order || !x->second ? order : strcmp(x->second, y->second);
}

/* A name, the number of items and the items: sorted, each once. */
static void add_list(struct str *out, const char *name, struct pair *items, size_t n)
{
	size_t unique = 0;

	if (n > 1)
		qsort(items, n, sizeof(*items), compare);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || compare(&items[unique - 1], &items[i]) != 0)
			items[unique++] = items[i];
	netstring_add_string(out, name);
	netstring_add_number(out, unique);
	for (size_t i = 0; i < unique; i++) {
		netstring_add_string(out, items[i].first);
		if (items[i].second)
			netstring_add_string(out, items[i].second);
	}
}

static void add_entries(struct str *out, const char *name, const struct strv *list)
{
	auto_free struct pair *items = mem_alloc(list->n * sizeof(*items));

	for (size_t i = 0; i < list->n; i++)
		items[i] = (struct pair){list->v[i], NULL};
	add_list(out, name, items, list->n);
}

static void add_flag(struct str *out, const char *name, bool value)
{
	netstring_add_string(out, name);
	netstring_add_string(out, value ? "1" : "0");
}

void fingerprint_policy(const struct image_policy *p, char (*key_hashes)[SHA256_HEX_SIZE],
	char out[SHA256_HEX_SIZE])
{
	AUTO(str) bytes = STR_INIT(BYTES_MAX);
	struct pair keys[POLICY_KEYS_MAX], identities[POLICY_IDENTITIES_MAX];
	const struct strv *paths = &p->cosign_public_keys.items;

	for (size_t i = 0; i < paths->n; i++)
		keys[i] = (struct pair){paths->v[i], key_hashes[i]};
	for (size_t i = 0; i < p->cosign_identities.n; i++)
		identities[i] = (struct pair){image_policy_identity(p, i)->issuer,
			image_policy_identity(p, i)->subject_regexp};
	netstring_add_string(&bytes, "cloop-image-policy-1");
	add_entries(&bytes, "registries", &p->allowed_registries.items);
	add_entries(&bytes, "repos", &p->allowed_repos.items);
	add_flag(&bytes, "digest", p->require_digest);
	add_flag(&bytes, "signature", p->require_signature);
	add_flag(&bytes, "tlog", p->cosign_ignore_tlog);
	netstring_add_string(&bytes, "default");
	netstring_add_string(&bytes, p->default_registry ? p->default_registry : "");
	add_list(&bytes, "keys", keys, paths->n);
	add_list(&bytes, "identities", identities, p->cosign_identities.n);
	sha256_hex((struct text){str_text(&bytes), bytes.len}, out);
}

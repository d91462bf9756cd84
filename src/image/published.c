#include "image/published.h"

#include <assert.h>
#include <stdlib.h>

#include "image/policy-entry.h"
#include "image/policy-keys.h"
#include "image/policy.h"
#include "image/regexp.h"

void published_images_done(struct published_images *p)
{
	strv_done(&p->repositories.items);
	free(p->issuer);
	free(p->subject_regexp);
	*p = (struct published_images){.issuer = NULL};
}

bool published_images_have(const struct published_images *p, const struct image_reference *r)
{
	char name[IMAGE_TEXT_MAX + 1];

	image_reference_name(r, name);
	return *r->registry && strv_has(&p->repositories.items, name);
}

/* An exact name with its registry. */
static enum problem_code judge(struct text t, struct policy_entry *ret)
{
	if (t.len == 0)
		return PROBLEM_EMPTY_ENTRY;
	enum problem_code code = policy_entry_repo(t, ret);
	if (code != PROBLEM_NONE)
		return code;
	if (text_ends(text_of(ret->text), "/*"))
		return PROBLEM_BAD_WILDCARD;
	return ret->registry_len ? PROBLEM_NONE : PROBLEM_REPO_NEEDS_REGISTRY;
}

static bool check_repository(struct schema_bind *b, const struct schema_key *key,
	const struct node *n, struct text value)
{
	struct policy_entry e;

	(void)key;
	return policy_keys_tell(b, n, value, judge(value, &e));
}

static void normalize(struct schema_bind *b, const struct schema_section *s, void *out)
{
	struct published_images *p = out;
	struct strv normal = STRV_INIT(p->repositories.items.max);

	(void)b;
	(void)s;
	strv_foreach (item, &p->repositories.items) {
		struct policy_entry e;
		enum problem_code code = judge(text_of(*item), &e);
		assert(code == PROBLEM_NONE);
		int added = strv_add(&normal, e.text);
		assert(added == 0);
	}
	strv_done(&p->repositories.items);
	p->repositories.items = normal;
}

static const char *const default_repositories[] = {
	"ghcr.io/blechschmidt/cloop",
	"ghcr.io/blechschmidt/cloop-harness",
	"ghcr.io/blechschmidt/cloop-harness-copilot",
	NULL,
};

enum { STRICT = SCHEMA_VERBATIM | SCHEMA_TYPED | SCHEMA_CHECK_EMPTY };

#define AT(name) .offset = offsetof(struct published_images, name)
static const struct schema_key keys[] = {
	{.name = "repositories",
		.type = SCHEMA_LIST,
		.flags = STRICT,
		AT(repositories),
		.max_items = PUBLISHED_REPOSITORIES_MAX,
		.max_bytes = IMAGE_TEXT_MAX,
		.check = check_repository,
		.fallback_items = default_repositories,
		.doc = "Their exact names, HOST[:PORT]/REPO each."},
	{.name = "issuer",
		.type = SCHEMA_TEXT,
		.flags = STRICT,
		AT(issuer),
		.max_bytes = POLICY_ISSUER_MAX,
		.check = policy_keys_issuer,
		.fallback = "https://token.actions.githubusercontent.com",
		.doc = "https URL of the issuer of the certificates that sign them."},
	{.name = "subject_regexp",
		.type = SCHEMA_TEXT,
		.flags = STRICT,
		AT(subject_regexp),
		.max_bytes = REGEXP_MAX_BYTES,
		.check = policy_keys_subject,
		.fallback = "^https://github\\.com/blechschmidt/cloop/\\.github/workflows/"
			    "publish-images\\.yml@refs/(heads/main|tags/v[^/]+)$",
		.doc = "Pattern of the signer's identity, as in cosign_identities."},
};
#undef AT
const struct schema published_images_schema = {SCHEMA(keys), .across = normalize,
	.doc = "cloop's own images, and who signs them: verified before a sandbox runs one, "
	       "whoever chose it."};

#include "image/policy-keys.h"

#include <assert.h>

#include "base/mem.h"
#include "image/policy-entry.h"
#include "image/policy.h"
#include "image/regexp.h"

/* ---- Values ---- */

/* What a code says of a text. */
static const char *const facts[PROBLEM_CODE_COUNT] = {
	[PROBLEM_EMPTY_ENTRY] = "is empty",
	[PROBLEM_REPO_NEEDS_REGISTRY] = "would mean that repository of any registry",
	[PROBLEM_NOT_ASCII] = "holds a byte that is not ASCII",
	[PROBLEM_BAD_BYTE] = "holds a blank or control character",
	[PROBLEM_HAS_SCHEME] = "begins with a scheme",
	[PROBLEM_PATH_IN_REGISTRY] = "is more than a registry",
	[PROBLEM_BAD_WILDCARD] = "has a star in a place where it cannot stand",
	[PROBLEM_BAD_HOST] = "is no valid registry host",
	[PROBLEM_BAD_PORT] = "has no valid port",
	[PROBLEM_TAG_IN_REPO] = "has a tag or a digest",
	[PROBLEM_REGISTRY_WITHOUT_REPOSITORY] = "names a registry and no repository",
	[PROBLEM_UPPERCASE] = "has an upper-case letter in its repository",
	[PROBLEM_BAD_REPOSITORY] = "has no valid repository",
	[PROBLEM_NAME_TOO_LONG] = "has more than 255 bytes",
	[PROBLEM_NOT_LOOPBACK] = "is no loopback address",
	[PROBLEM_NOT_ABSOLUTE] = "is no absolute path",
	[PROBLEM_BAD_PATH] = "has a control character, or a component . or ..",
	[PROBLEM_BAD_ISSUER] = "is no https URL of an issuer",
};

bool policy_keys_tell(
	struct schema_bind *b, const struct node *n, struct text value, enum problem_code code)
{
	if (code == PROBLEM_NONE)
		return true;
	assert(facts[code]);
	schema_problem(b, code, n, "%s %s", schema_quoted(value), facts[code]);
	return false;
}

static bool empty(struct schema_bind *b, const struct node *n, struct text value)
{
	if (value.len == 0)
		schema_problem(b, PROBLEM_EMPTY_ENTRY, n, "the entry is empty");
	return value.len == 0;
}

static bool check_registry(struct schema_bind *b, const struct schema_key *key,
	const struct node *n, struct text value)
{
	struct policy_entry e;

	(void)key;
	if (empty(b, n, value) || !policy_keys_tell(b, n, value, policy_entry_registry(value, &e)))
		return false;
	if (strcmp(e.text, "*") == 0)
		schema_warning(b, PROBLEM_ANY_REGISTRY, n, "* admits every registry");
	else if (policy_entry_is_broad(&e))
		schema_warning(b, PROBLEM_BROAD_WILDCARD, n, "%s admits a whole top-level domain",
			schema_quoted(value));
	else if (strcmp(e.text, "*.docker.io") == 0)
		schema_warning(b, PROBLEM_HUB_WILDCARD, n,
			"%s does not admit Docker Hub, whose names all mean docker.io",
			schema_quoted(value));
	return true;
}

static bool check_repo(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value)
{
	struct policy_entry e;

	(void)key;
	return !empty(b, n, value) && policy_keys_tell(b, n, value, policy_entry_repo(value, &e));
}

static bool check_default(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value)
{
	struct policy_entry e;

	(void)key;
	return policy_keys_tell(b, n, value, policy_entry_host(value, &e));
}

static bool check_insecure(struct schema_bind *b, const struct schema_key *key,
	const struct node *n, struct text value)
{
	struct policy_entry e;

	(void)key;
	return !empty(b, n, value) &&
	       policy_keys_tell(b, n, value, policy_entry_loopback(value, &e));
}

static bool check_key(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value)
{
	(void)key;
	return !empty(b, n, value) && policy_keys_tell(b, n, value, policy_entry_key(value));
}

static bool missing(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value)
{
	if (value.len == 0)
		schema_problem(b, PROBLEM_REQUIRED, n, "%s is empty", key->name);
	return value.len == 0;
}

bool policy_keys_issuer(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value)
{
	return !missing(b, key, n, value) &&
	       policy_keys_tell(b, n, value, policy_entry_issuer(value));
}

bool policy_keys_subject(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value)
{
	struct regexp_facts f;

	if (missing(b, key, n, value))
		return false;
	switch (regexp_judge(value, &f)) {
	case REGEXP_TOO_LONG:
		schema_problem(b, PROBLEM_TOO_LONG, n,
			"the pattern has %zu bytes, at most %d are "
			"allowed",
			value.len, REGEXP_MAX_BYTES);
		return false;
	case REGEXP_MALFORMED:
		schema_problem(b, PROBLEM_BAD_REGEXP, n,
			"%s is no pattern that can be used here: "
			"see byte %zu",
			schema_quoted(value), f.at);
		return false;
	case REGEXP_NOT_ANCHORED:
		schema_problem(b, PROBLEM_NOT_ANCHORED, n, "%s matches inside of longer texts",
			schema_quoted(value));
		return false;
	case REGEXP_MATCHES_EVERYTHING:
		schema_problem(b, PROBLEM_MATCHES_EVERYTHING, n, "%s has no literal text",
			schema_quoted(value));
		return false;
	case REGEXP_OK:
		break;
	}
	if (f.broad)
		schema_warning(b, PROBLEM_BROAD_IDENTITY, n,
			"%s does not say how the identity begins", schema_quoted(value));
	return true;
}

/* ---- Across keys ---- */

static void require(struct schema_bind *b, const struct schema_section *s, const char *name)
{
	AUTO(str) path = STR_INIT(NODE_PATH_MAX);

	if (section_given(s, name))
		return;
	node_path(b->tree, s->node, &path);
	str_addf(&path, ".%s", name);
	problems_add(
		b->errors, PROBLEM_REQUIRED, s->node->at, str_text(&path), "%s is missing", name);
}

static void check_identity(struct schema_bind *b, const struct schema_section *s, void *out)
{
	(void)out;
	require(b, s, "issuer");
	require(b, s, "subject_regexp");
}

typedef enum problem_code judge_entry(struct text t, struct policy_entry *ret);

/* What was taken of a list is valid by itself. */
static void normalize_list(struct schema_list *list, judge_entry *judge)
{
	struct strv normal = STRV_INIT(list->items.max);

	strv_foreach (item, &list->items) {
		struct policy_entry e;
		enum problem_code code = judge(text_of(*item), &e);
		assert(code == PROBLEM_NONE);
		int added = strv_add(&normal, e.text);
		assert(added == 0);
	}
	strv_done(&list->items);
	list->items = normal;
}

static void normalize(struct image_policy *p)
{
	struct policy_entry e;

	normalize_list(&p->allowed_registries, policy_entry_registry);
	normalize_list(&p->allowed_repos, policy_entry_repo);
	normalize_list(&p->insecure_registries, policy_entry_loopback);
	if (p->default_registry && *p->default_registry) {
		enum problem_code code = policy_entry_host(text_of(p->default_registry), &e);
		assert(code == PROBLEM_NONE);
		mem_set_string(&p->default_registry, e.text);
	}
	image_policy_index(p);
}

/* A key says that it lists n things: 0 also when it is absent. What is at fault may mean any. */
static bool lists_nothing(const struct schema_section *s, const char *name, size_t n)
{
	return !section_given(s, name) || (section_valid(s, name) && n == 0);
}

static void warn_empty(
	struct schema_bind *b, const struct schema_section *s, const char *name, size_t n)
{
	if (section_valid(s, name) && n == 0)
		schema_warning(b, PROBLEM_EMPTY_LIST, section_value(s, name),
			"an empty list restricts nothing");
}

/* One entry of allowed_repos next to allowed_registries. */
static void judge_repo(struct schema_bind *b, const struct node *n, const struct image_policy *p,
	bool any_registry)
{
	char registry[POLICY_ENTRY_SIZE];
	struct policy_entry e;

	if (n->refused || n->kind != NODE_SCALAR || node_is_null(n) || node_is_typed(n) ||
		n->text.len == 0 || n->text.len > IMAGE_TEXT_MAX ||
		policy_entry_repo(n->text, &e) != PROBLEM_NONE)
		return;
	memcpy(registry, e.text, e.registry_len);
	registry[e.registry_len] = '\0';
	if (e.registry_len == 0 && any_registry)
		schema_problem(b, PROBLEM_REPO_NEEDS_REGISTRY, n,
			"%s would mean that repository of any registry", schema_quoted(n->text));
	else if (e.registry_len > 0 && !image_policy_admits_registry(p, registry))
		schema_warning(b, PROBLEM_UNREACHABLE_ENTRY, n,
			"no entry of allowed_registries admits the registry of %s",
			schema_quoted(n->text));
}

static void judge_registries(
	struct schema_bind *b, const struct schema_section *s, const struct image_policy *p)
{
	bool none = lists_nothing(s, "allowed_registries", p->allowed_registries.items.n);
	const struct node *repos =
		section_given(s, "allowed_repos") ? section_value(s, "allowed_repos") : NULL;

	warn_empty(b, s, "allowed_registries", p->allowed_registries.items.n);
	warn_empty(b, s, "allowed_repos", p->allowed_repos.items.n);
	if (!none && !section_valid(s, "allowed_registries"))
		return;
	if (repos && !repos->refused && repos->kind == NODE_SEQUENCE)
		for (const struct node *n = repos->first; n && n->index < POLICY_REPOS_MAX;
			n = n->next)
			judge_repo(b, n, p, none);
	if (section_valid(s, "default_registry") && *p->default_registry &&
		!image_policy_admits_registry(p, p->default_registry))
		schema_warning(b, PROBLEM_DEFAULT_NOT_ALLOWED, section_value(s, "default_registry"),
			"no entry of allowed_registries admits %s",
			schema_quoted(text_of(p->default_registry)));
}

static void warn_unused(
	struct schema_bind *b, const struct schema_section *s, const char *name, size_t n)
{
	if (section_valid(s, name) && n > 0)
		schema_warning(b, PROBLEM_SIGNATURE_UNUSED, section_value(s, name),
			"nothing is verified while require_signature is false");
}

static void judge_signatures(
	struct schema_bind *b, const struct schema_section *s, const struct image_policy *p)
{
	size_t keys = p->cosign_public_keys.items.n, identities = p->cosign_identities.n;
	bool known =
		!section_given(s, "require_signature") || section_valid(s, "require_signature");
	bool no_keys = lists_nothing(s, "cosign_public_keys", keys);

	if (p->require_signature && no_keys && lists_nothing(s, "cosign_identities", identities))
		schema_problem(b, PROBLEM_NOTHING_TO_VERIFY, section_value(s, "require_signature"),
			"there is no key and no identity to verify a signature with");
	if (known && !p->require_signature) {
		warn_unused(b, s, "cosign_public_keys", keys);
		warn_unused(b, s, "cosign_identities", identities);
	}
	if (p->cosign_ignore_tlog)
		schema_warning(b, no_keys ? PROBLEM_TLOG_WITHOUT_KEYS : PROBLEM_TLOG_IGNORED,
			section_value(s, "cosign_ignore_tlog"), "%s",
			no_keys ? "no key is given: this changes nothing"
				: "a stolen key leaves no trace: its signatures need not be "
				  "logged");
}

static void check_policy(struct schema_bind *b, const struct schema_section *s, void *out)
{
	struct image_policy *p = out;

	normalize(p);
	judge_registries(b, s, p);
	judge_signatures(b, s, p);
	if (p->govern_operator_images && !image_policy_active(p) &&
		lists_nothing(s, "allowed_registries", 0) && lists_nothing(s, "allowed_repos", 0))
		schema_warning(b, PROBLEM_GOVERN_WITHOUT_RULES,
			section_value(s, "govern_operator_images"),
			"there is no rule that the operator's images could obey");
}

/* ---- Tables ---- */

enum { TYPED = SCHEMA_VERBATIM | SCHEMA_TYPED };

#define AT(name) .offset = offsetof(struct policy_identity, name)
static const struct schema_key identity_keys[] = {
	{.name = "issuer",
		.type = SCHEMA_TEXT,
		.flags = TYPED | SCHEMA_CHECK_EMPTY,
		AT(issuer),
		.max_bytes = POLICY_ISSUER_MAX,
		.check = policy_keys_issuer,
		.doc = "https URL of the issuer of the signer's certificate."},
	{.name = "subject_regexp",
		.type = SCHEMA_TEXT,
		.flags = TYPED | SCHEMA_CHECK_EMPTY,
		AT(subject_regexp),
		.max_bytes = REGEXP_MAX_BYTES,
		.check = policy_keys_subject,
		.doc = "Pattern of the signer's identity: begins with ^, ends with $ or .+. "
		       "Literals, "
		       "escapes, classes, groups and quantifiers of RE2; no flags and "
		       "look-around."},
};
#undef AT
static const struct schema identity_schema = {
	SCHEMA(identity_keys), .across = check_identity, .doc = "Both are required."};

#define AT(name) .offset = offsetof(struct image_policy, name)
#define ENTRIES(name, bytes, items) \
	.type = SCHEMA_LIST, .flags = TYPED | SCHEMA_CHECK_EMPTY, AT(name), .max_bytes = bytes, \
	.max_items = items
static const struct schema_key policy_keys[] = {
	{.name = "allowed_registries",
		ENTRIES(allowed_registries, IMAGE_TEXT_MAX, POLICY_REGISTRIES_MAX),
		.check = check_registry,
		.doc = "HOST[:PORT], *.SUFFIX[:PORT] or *. Empty: any."},
	{.name = "allowed_repos",
		ENTRIES(allowed_repos, IMAGE_TEXT_MAX, POLICY_REPOS_MAX),
		.check = check_repo,
		.doc = "[HOST/]REPO, [HOST/]REPO/* or HOST/*. REPO/* admits what is below, not "
		       "REPO "
		       "itself. Empty: any."},
	{.name = "require_digest",
		.type = SCHEMA_BOOLEAN,
		AT(require_digest),
		.fallback = "false",
		.doc = "A reference must carry a digest."},
	{.name = "require_signature",
		.type = SCHEMA_BOOLEAN,
		AT(require_signature),
		.fallback = "false",
		.doc = "cosign must verify the digest, with one of the keys or identities."},
	{.name = "cosign_public_keys",
		ENTRIES(cosign_public_keys, POLICY_KEY_PATH_MAX, POLICY_KEYS_MAX),
		.check = check_key,
		.doc = "Absolute paths of key files."},
	{.name = "cosign_identities",
		.type = SCHEMA_ENTRIES,
		.flags = SCHEMA_TYPED,
		AT(cosign_identities),
		.max_items = POLICY_IDENTITIES_MAX,
		.section = &identity_schema,
		.entry_size = sizeof(struct policy_identity),
		.doc = "Keyless publishers."},
	{.name = "cosign_ignore_tlog",
		.type = SCHEMA_BOOLEAN,
		AT(cosign_ignore_tlog),
		.fallback = "false",
		.doc = "Signatures by key need not be in a transparency log: for infrastructure "
		       "that "
		       "reaches none. Never applies to identities."},
	{.name = "default_registry",
		.type = SCHEMA_TEXT,
		.flags = TYPED | SCHEMA_BLANK,
		AT(default_registry),
		.max_bytes = IMAGE_TEXT_MAX,
		.fallback = "",
		.check = check_default,
		.doc = "Registry of references that name none."},
	{.name = "govern_operator_images",
		.type = SCHEMA_BOOLEAN,
		AT(govern_operator_images),
		.fallback = "false",
		.doc = "The operator's images obey the same rules."},
	{.name = "insecure_registries",
		ENTRIES(insecure_registries, IMAGE_TEXT_MAX, POLICY_INSECURE_MAX),
		.check = check_insecure,
		.doc = "Loopback registries that are spoken to without TLS. Says nothing about "
		       "being "
		       "allowed."},
};
#undef ENTRIES
#undef AT
const struct schema image_policy_schema = {SCHEMA(policy_keys), .across = check_policy,
	.doc = "Which images projects may name. A section that does not validate refuses every "
	       "image."};

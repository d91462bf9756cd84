#include "vault/kubeconfig.h"

#include "base/json-secret.h"
#include "vault/payload.h"
#include "yaml/reader.h"

enum { DEPTH_MAX = 16, EVENTS_MAX = 100000 };

/* ---- What a cluster, a user, a context may hold ---- */

enum rule {
	TEXT_VALUE,  /* carried over */
	ANY_VALUE,   /* the same, lists and mappings of texts too */
	FLAG_VALUE,  /* true or false */
	NOT_CARRIED, /* left out */
	REFUSED,
};

struct member {
	const char *key;
	enum rule rule;
};

static const struct member cluster_members[] = {
	{"server", TEXT_VALUE},
	{"tls-server-name", TEXT_VALUE},
	{"certificate-authority-data", TEXT_VALUE},
	{"disable-compression", FLAG_VALUE},
	{"extensions", NOT_CARRIED},
	{"certificate-authority", REFUSED},
	{"insecure-skip-tls-verify", REFUSED},
	{"proxy-url", REFUSED},
	{NULL, REFUSED},
};
/* Without its `as…` an entry would mean more than it did: they are carried over. */
static const struct member user_members[] = {
	{"client-certificate-data", TEXT_VALUE},
	{"client-key-data", TEXT_VALUE},
	{"token", TEXT_VALUE},
	{"username", TEXT_VALUE},
	{"password", TEXT_VALUE},
	{"as", TEXT_VALUE},
	{"as-uid", TEXT_VALUE},
	{"as-groups", ANY_VALUE},
	{"as-user-extra", ANY_VALUE},
	{"extensions", NOT_CARRIED},
	{"exec", REFUSED},
	{"auth-provider", REFUSED},
	{"client-certificate", REFUSED},
	{"client-key", REFUSED},
	{"tokenFile", REFUSED},
	{NULL, REFUSED},
};
static const struct member context_members[] = {
	{"cluster", TEXT_VALUE},
	{"user", TEXT_VALUE},
	{"namespace", TEXT_VALUE},
	{"extensions", NOT_CARRIED},
	{NULL, REFUSED},
};

/* The named lists of the file: `clusters: [{name: N, cluster: {…}}]`. */
enum section { CLUSTERS, USERS, CONTEXTS, SECTION_COUNT };
static const struct {
	const char *list, *item;
	const struct member *members;
} sections[] = {
	[CLUSTERS] = {"clusters", "cluster", cluster_members},
	[USERS] = {"users", "user", user_members},
	[CONTEXTS] = {"contexts", "context", context_members},
};

/* ---- Reading ---- */

struct kubeconfig {
	struct tree tree;
	const struct node *lists[SECTION_COUNT]; /* NULL: none */
};

static void kubeconfig_done(struct kubeconfig *k)
{
	tree_done(&k->tree);
}

static int fault(const struct node *n, const char *reason, struct error *err)
{
	return payload_invalid(err, n ? n->at.line : 0, reason);
}

static const struct node *value_of(const struct node *mapping, const char *key)
{
	const struct node *k =
		mapping && mapping->kind == NODE_MAPPING ? node_key(mapping, key) : NULL;

	return k && !node_is_null(k->value) ? k->value : NULL;
}

static const struct member *find_member(const struct member *m, struct text key)
{
	while (m->key && !text_is(key, m->key))
		m++;
	return m;
}

/* A refused key that changes nothing: empty, or the plain word false. */
static bool says_nothing(const struct node *value)
{
	return node_is_null(value) ||
	       (value->kind == NODE_SCALAR &&
		       (value->text.len == 0 || (value->plain && text_is(value->text, "false"))));
}

static bool is_flag(const struct node *n)
{
	return n->kind == NODE_SCALAR && n->plain &&
	       (text_is(n->text, "true") || text_is(n->text, "false"));
}

static int judge_member(const struct member *m, const struct node *key, struct error *err)
{
	const struct node *value = key->value;

	if (!m->key)
		return fault(key, "unknown_key", err);
	if (m->rule == REFUSED)
		return says_nothing(value) ? 0 : fault(key, m->key, err);
	if (node_is_null(value))
		return 0;
	if ((m->rule == TEXT_VALUE && value->kind != NODE_SCALAR) ||
		(m->rule == FLAG_VALUE && !is_flag(value)))
		return fault(value, "type", err);
	return 0;
}

static int judge_item(enum section s, const struct node *item, struct error *err)
{
	const struct node *name = value_of(item, "name");
	const struct node *body = value_of(item, sections[s].item);

	if (!name || name->kind != NODE_SCALAR || name->text.len == 0)
		return fault(item, "name", err);
	if (!body)
		return 0;
	if (body->kind != NODE_MAPPING)
		return fault(body, "type", err);
	for (const struct node *key = body->first; key; key = key->next)
		if (judge_member(find_member(sections[s].members, key->text), key, err) < 0)
			return -1;
	return 0;
}

static int judge_section(enum section s, const struct node *list, struct error *err)
{
	if (list->kind != NODE_SEQUENCE)
		return fault(list, "type", err);
	for (const struct node *item = list->first; item; item = item->next)
		if (judge_item(s, item, err) < 0)
			return -1;
	return 0;
}

static int read_tree(struct text payload, struct tree *ret, struct error *err)
{
	static const struct reader_rules rules = {
		.max_events = EVENTS_MAX, .max_depth = DEPTH_MAX, .secret = true};
	AUTO(problems) problems = PROBLEMS_INIT(1);
	int stopped = reader_read(payload, &rules, &problems, ret);

	if (stopped || problems.total > 0) {
		problems_finish(&problems);
		return payload_invalid(err, problems.v[0].at.line, "yaml");
	}
	if (!ret->root || ret->root->kind != NODE_MAPPING)
		return payload_invalid(err, 0, "yaml");
	return 0;
}

static int read_all(struct text payload, struct kubeconfig *k, struct error *err)
{
	if (read_tree(payload, &k->tree, err) < 0)
		return -1;
	for (int s = 0; s < SECTION_COUNT; s++) {
		k->lists[s] = value_of(k->tree.root, sections[s].list);
		if (k->lists[s] && judge_section((enum section)s, k->lists[s], err) < 0)
			return -1;
	}
	return k->lists[CONTEXTS] ? 0 : payload_invalid(err, 0, "contexts");
}

int kubeconfig_check(struct text payload, struct error *err)
{
	AUTO(kubeconfig) k = {.tree = TREE_INIT};

	return read_all(payload, &k, err);
}

/* ---- Writing ---- */

/* Every scalar as text: what reads this file wants texts there. */
static json_t *text_json(const struct node *n)
{
	if (node_is_null(n))
		return json_null();
	if (n->kind == NODE_SCALAR)
		return json_stringn(n->text.p, n->text.len);
	json_t *made = n->kind == NODE_SEQUENCE ? json_array() : json_object();
	for (const struct node *i = n->first; i; i = i->next) {
		if (n->kind == NODE_SEQUENCE)
			json_array_append_new(made, text_json(i));
		else
			json_object_setn_new(made, i->text.p, i->text.len, text_json(i->value));
	}
	return made;
}

static json_t *body_json(enum section s, const struct node *body)
{
	json_t *made = json_object();

	for (const struct node *key = body ? body->first : NULL; key; key = key->next) {
		const struct member *m = find_member(sections[s].members, key->text);
		if (m->rule == REFUSED || m->rule == NOT_CARRIED || node_is_null(key->value))
			continue;
		json_object_set_new(made, m->key,
			m->rule == FLAG_VALUE ? json_boolean(text_is(key->value->text, "true"))
					      : text_json(key->value));
	}
	return made;
}

/* The first of that name, as kubectl reads it; NULL: none. */
static const struct node *find_item(const struct kubeconfig *k, enum section s, struct text name)
{
	const struct node *list = k->lists[s];

	for (const struct node *i = list ? list->first : NULL; i; i = i->next) {
		const struct node *own = value_of(i, "name");
		if (own && text_equal(own->text, name))
			return i;
	}
	return NULL;
}

static bool listed(const json_t *list, struct text name)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (text_equal(json_get_text(json_array_get(list, i), "name"), name))
			return true;
	return false;
}

static json_t *item_json(enum section s, struct text name, json_t *body)
{
	json_t *item = json_object();

	json_object_set_new(item, "name", json_stringn(name.p, name.len));
	json_object_set_new(item, sections[s].item, body);
	return item;
}

/* Adds what a context names, once. */
static int add_named(const struct kubeconfig *k, enum section s, const struct node *name,
	json_t *out, struct error *err)
{
	json_t *list = json_object_get(out, sections[s].list);
	const struct node *item = find_item(k, s, name->text);

	if (!item)
		return fault(name, sections[s].item, err);
	if (!listed(list, name->text))
		json_array_append_new(list,
			item_json(s, name->text, body_json(s, value_of(item, sections[s].item))));
	return 0;
}

/* The namespace of a context is an allowed one; one without gets the first. */
static bool fit_namespace(json_t *context, const struct strv *namespaces)
{
	const char *own = json_get_string(context, "namespace");

	if (namespaces->n == 0)
		return true;
	if (own && *own)
		return strv_has(namespaces, own);
	json_object_set_new(context, "namespace", json_string(namespaces->v[0]));
	return true;
}

static int add_context(const struct kubeconfig *k, const char *name, const struct strv *namespaces,
	json_t *out, struct error *err)
{
	const struct node *item = find_item(k, CONTEXTS, text_of(name));
	const struct node *body = value_of(item, "context");

	if (!body)
		return 0;
	auto_json_secret *made = body_json(CONTEXTS, body);
	if (!fit_namespace(made, namespaces))
		return 0;
	const struct node *cluster = value_of(body, "cluster"), *user = value_of(body, "user");
	if (!cluster)
		return fault(body, "cluster", err);
	if (add_named(k, CLUSTERS, cluster, out, err) < 0 ||
		(user && user->text.len > 0 && add_named(k, USERS, user, out, err) < 0))
		return -1;
	json_array_append_new(json_object_get(out, "contexts"),
		item_json(CONTEXTS, text_of(name), TAKE_PTR(made)));
	if (!json_object_get(out, "current-context"))
		json_object_set_new(out, "current-context", json_string(name));
	return 0;
}

int kubeconfig_select(struct text payload, const struct strv *contexts,
	const struct strv *namespaces, struct secret *ret, struct error *err)
{
	AUTO(kubeconfig) k = {.tree = TREE_INIT};
	auto_json_secret *out = json_pack("{s:s, s:s, s:[], s:[], s:[]}", "apiVersion", "v1",
		"kind", "Config", "clusters", "users", "contexts");

	if (read_all(payload, &k, err) < 0)
		return -1;
	strv_foreach (name, contexts)
		if (add_context(&k, *name, namespaces, out, err) < 0)
			return -1;
	if (!json_object_get(out, "current-context"))
		return payload_invalid(err, 0, "no_context");
	json_secret_write(out, ret);
	return 0;
}

#include "run/grant-words.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "executor/constraint.h"
#include "spec/spec.h"
#include "vault/offer.h"

/* What a constraint comes from when a grant brings it up. */
static const struct source {
	enum constraint constraint;
	const char *brings;
	enum secret_kind kinds[3];
	size_t n_kinds;      /* 0 = any */
	const char *instead; /* what a file can say about it; NULL = nothing */
} sources[] = {
	{CONSTRAINT_DEVICES, "devices", {SECRET_HOST_DEVICE}, 1, "devices: []"},
	{CONSTRAINT_INTERFACES, "interfaces", {SECRET_HOST_INTERFACE}, 1, "interfaces: []"},
	{CONSTRAINT_HOST_MOUNTS, "repositories", {SECRET_LOCAL_REPO}, 1, NULL},
	{CONSTRAINT_SECRET_FILES, "files", {SECRET_FILE, SECRET_REGISTRY, SECRET_KUBECONFIG}, 3,
		NULL},
	{CONSTRAINT_REVOCATION, "a lease", {SECRET_ENV}, 0, NULL},
};

static const struct source *source_of(const struct error *refusal)
{
	const char *constraint = json_get_string(refusal->details, "constraint");

	for (size_t i = 0; constraint && i < ARRAY_SIZE(sources); i++)
		if (strcmp(constraint_text(sources[i].constraint), constraint) == 0)
			return &sources[i];
	return NULL;
}

static bool brings(const struct source *s, const struct offer_grant *g)
{
	bool found = s->n_kinds == 0;

	for (size_t i = 0; i < s->n_kinds; i++)
		found = found || g->kind == s->kinds[i];
	return found && g->verdict == LEASE_GRANTED;
}

static const struct offer_grant *find(const struct source *s, const struct offer *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (brings(s, &o->v[i]))
			return &o->v[i];
	return NULL;
}

static void list_alternatives(const struct error *refusal, struct str *out)
{
	const json_t *ids = json_object_get(refusal->details, "alternatives");
	size_t i;
	json_t *id;

	json_array_foreach(ids, i, id) str_addf(out, "%s%s",
		i ? ", " : "cloop executor bind to one that can: ", json_string_value(id));
	if (json_array_size(ids) > 0)
		str_add_text(out, "; or ");
}

int grant_words_add(const struct offer *offer, const struct spec_result *file, struct error *err)
{
	const struct source *s = offer ? source_of(err) : NULL;
	const char *key = s ? constraint_file_key(s->constraint) : NULL;
	const struct offer_grant *g = s ? find(s, offer) : NULL;
	AUTO(str) others = STR_INIT(ERROR_TEXT_MAX / 2);

	if (!g || (key && spec_result_at(file, key).line > 0))
		return -1;
	list_alternatives(err, &others);
	error_prefix(
		err, "grant %s of secret %s brings %s", g->id, quoted_string(g->name), s->brings);
	error_set_remedy(
		err, "%stake the grant back: cloop secret revoke %s", str_text(&others), g->id);
	if (!s->instead)
		return -1;
	auto_free char *so_far = mem_strdup(error_remedy(err));
	return error_set_remedy(err,
		"%s; or select none in .cloop/sandbox.yaml: capabilities: {%s}", so_far,
		s->instead);
}

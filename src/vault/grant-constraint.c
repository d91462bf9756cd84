#include "vault/grant-constraint.h"

#include <stddef.h>

#include "base/json.h"
#include "base/mem.h"
#include "image/host.h"

enum { NAME_MAX_BYTES = 64, ENV_KEY_MAX = 128, REPO_MAX = 128, CONTEXT_MAX = 253, LABEL_MAX = 63 };

/* ---- Items ---- */

bool grant_constraints_item_name(struct text t)
{
	return t.len >= 1 && t.len <= NAME_MAX_BYTES && ascii_alnum(t.p[0]) &&
	       text_all_word(t, "._-");
}

static bool env_key_valid(struct text t)
{
	return t.len >= 1 && t.len <= ENV_KEY_MAX && !ascii_digit(t.p[0]) && text_all_word(t, "_");
}

static bool repo_valid(struct text t)
{
	return t.len >= 1 && t.len <= REPO_MAX && t.p[0] != '.' && !text_has_byte(t, '/') &&
	       !text_has_byte(t, '\\') && !text_has_byte(t, ':') && !text_has_control(t);
}

/* A host that cannot be taken for a name without a registry, in lower case. */
static bool registry_valid(struct text t)
{
	struct registry_parts parts;

	for (size_t i = 0; i < t.len; i++)
		if (ascii_upper(t.p[i]))
			return false;
	if (registry_split(t, &parts) != REGISTRY_OK)
		return false;
	return parts.port.p || text_has_byte(parts.host, '.') || text_is(parts.host, "localhost");
}

static bool context_valid(struct text t)
{
	return t.len >= 1 && t.len <= CONTEXT_MAX && !text_has_control(t) && !text_has_byte(t, ' ');
}

/* A label as RFC 1123 has it. */
static bool namespace_valid(struct text t)
{
	bool good = t.len >= 1 && t.len <= LABEL_MAX && text_all_word(t, "-") && t.p[0] != '-' &&
		    t.p[t.len - 1] != '-';

	for (size_t i = 0; good && i < t.len; i++)
		good = !ascii_upper(t.p[i]);
	return good;
}

/* ---- The table ---- */

#define BIT(kind) (1u << (kind))
#define LIST(member) offsetof(struct grant_constraints, member), true
#define FLAG(member) offsetof(struct grant_constraints, member), false
#define ITEM_RULE "1 to 64 letters, digits and . _ -, a letter or digit first"

/* In the order of messages and summaries (§15). */
static const struct row {
	const char *key, *summary;
	unsigned kinds; /* that have it */
	bool required;
	size_t offset;
	bool list;
	size_t max;
	bool (*valid)(struct text t);
	const char *rule; /* of valid, for people */
} rows[] = {
	{"repos", "repos", BIT(SECRET_LOCAL_REPO), true, LIST(repos), 32, repo_valid,
		"1 to 128 bytes, no dot first, no slash, backslash or colon"},
	{"namespaces", "ns", BIT(SECRET_KUBECONFIG), false, LIST(namespaces), 32, namespace_valid,
		"1 to 63 of a-z 0-9 and -, no - at an end"},
	{"contexts", "ctx", BIT(SECRET_KUBECONFIG), true, LIST(contexts), 32, context_valid,
		"1 to 253 bytes without blanks"},
	{"registries", "registries", BIT(SECRET_REGISTRY), true, LIST(registries), 32,
		registry_valid, "HOST[:PORT] in lower case, with a dot or a port, or localhost"},
	{"env_keys", "env", BIT(SECRET_ENV), false, LIST(env_keys), 64, env_key_valid,
		"1 to 128 letters, digits and _, no digit first"},
	{"devices", "devices", BIT(SECRET_HOST_DEVICE), true, LIST(devices), 16,
		grant_constraints_item_name, ITEM_RULE},
	{"interfaces", "interfaces", BIT(SECRET_HOST_INTERFACE), true, LIST(interfaces), 8,
		grant_constraints_item_name, ITEM_RULE},
	{"writable", "writable", BIT(SECRET_LOCAL_REPO) | BIT(SECRET_HOST_DEVICE), false,
		FLAG(writable), 0, NULL, NULL},
	{"block", "block", BIT(SECRET_HOST_DEVICE), false, FLAG(block), 0, NULL, NULL},
};
static const struct row *const rows_end = rows + ARRAY_SIZE(rows);

static const struct strv *list_in(const struct grant_constraints *c, const struct row *r)
{
	return (const void *)((const char *)c + r->offset);
}

static bool flag_in(const struct grant_constraints *c, const struct row *r)
{
	return *(const bool *)((const char *)c + r->offset);
}

static void *member_of(struct grant_constraints *c, const struct row *r)
{
	return (char *)c + r->offset;
}

void grant_constraints_done(struct grant_constraints *c)
{
	for (const struct row *r = rows; r < rows_end; r++)
		if (r->list)
			strv_done(member_of(c, r));
	*c = (struct grant_constraints){.writable = false};
}

/* ---- Reading ---- */

/* What is wrong with the constraint of a row, or one of its items (index < 0: none). Returns -1. */
static int fault(
	enum error_code code, const char *key, long index, const char *what, struct error *err)
{
	auto_free char *item = index < 0 ? mem_strdup(key) : mem_printf("%s[%ld]", key, index);

	error_set(err, code, "constraint %s %s", quoted_string(item), what);
	error_add_detail(err, "key", json_from_bytes(text_of(item)));
	return -1;
}

static int check_known(json_t *object, struct error *err)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		bool known = false;
		for (const struct row *r = rows; !known && r < rows_end; r++)
			known = strcmp(r->key, key) == 0;
		if (!known)
			return fault(ERROR_GRANT_CONSTRAINT_UNKNOWN, key, -1, "is unknown", err);
	}
	return 0;
}

static bool empty_list(const json_t *value)
{
	return json_is_array(value) && json_array_size(value) == 0;
}

static int check_keys(enum secret_kind kind, json_t *object, struct error *err)
{
	if (check_known(object, err) < 0)
		return -1;
	for (const struct row *r = rows; r < rows_end; r++)
		if (!(r->kinds & BIT(kind)) && json_object_get(object, r->key))
			return fault(ERROR_GRANT_CONSTRAINT_KIND, r->key, -1,
				"does not belong to this kind", err);
	for (const struct row *r = rows; r < rows_end; r++) {
		const json_t *given = json_object_get(object, r->key);
		if (r->required && (r->kinds & BIT(kind)) && (!given || empty_list(given)))
			return fault(ERROR_GRANT_CONSTRAINT_MISSING, r->key, -1, "is missing", err);
	}
	return 0;
}

static int invalid_item(const struct row *r, size_t index, const json_t *item, struct error *err)
{
	auto_free char *what = NULL;

	if (json_is_string(item))
		what = mem_printf(
			"is %s, which is not valid: %s", quoted(json_text(item)), r->rule);
	return fault(ERROR_GRANT_CONSTRAINT_INVALID, r->key, (long)index,
		what ? what : "is no text", err);
}

static int too_long(const struct row *r, struct error *err)
{
	auto_free char *what = mem_printf("is too long: at most %zu", r->max);

	return fault(ERROR_GRANT_CONSTRAINT_INVALID, r->key, -1, what, err);
}

static int read_list(const struct row *r, const json_t *given, struct strv *ret, struct error *err)
{
	*ret = STRV_INIT(GRANT_LIST_MAX);
	if (!json_is_array(given))
		return fault(ERROR_GRANT_CONSTRAINT_INVALID, r->key, -1, "is no list", err);
	if (json_array_size(given) > r->max)
		return too_long(r, err);
	for (size_t i = 0; i < json_array_size(given); i++) {
		const json_t *item = json_array_get(given, i);
		if (!json_is_string(item) || !r->valid(json_text(item)))
			return invalid_item(r, i, item, err);
		if (!strv_has(ret, json_string_value(item)))
			strv_add(ret, json_string_value(item));
	}
	return 0;
}

static int read_values(json_t *object, struct grant_constraints *c, struct error *err)
{
	for (const struct row *r = rows; r < rows_end; r++) {
		const json_t *given = json_object_get(object, r->key);
		if (!given)
			continue;
		if (r->list && read_list(r, given, member_of(c, r), err) < 0)
			return -1;
		if (!r->list && !json_is_boolean(given))
			return fault(ERROR_GRANT_CONSTRAINT_INVALID, r->key, -1,
				"is neither true nor false", err);
		if (!r->list)
			*(bool *)member_of(c, r) = json_is_true(given);
	}
	return 0;
}

int grant_constraints_read(
	enum secret_kind kind, json_t *object, struct grant_constraints *ret, struct error *err)
{
	AUTO(grant_constraints) c = {.writable = false};

	if (check_keys(kind, object, err) < 0 || read_values(object, &c, err) < 0)
		return -1;
	*ret = c;
	c = (struct grant_constraints){.writable = false};
	return 0;
}

/* ---- Writing ---- */

json_t *grant_constraints_to_json(const struct grant_constraints *c)
{
	json_t *object = json_object();

	for (const struct row *r = rows; r < rows_end; r++) {
		if (r->list && list_in(c, r)->n > 0)
			json_object_set_new(object, r->key,
				json_from_strings(list_in(c, r)->v, list_in(c, r)->n));
		if (!r->list && flag_in(c, r))
			json_object_set_new(object, r->key, json_true());
	}
	return object;
}

static char *summary_part(const struct grant_constraints *c, const struct row *r)
{
	AUTO(strv) sorted = STRV_INIT(GRANT_LIST_MAX);

	if (!r->list)
		return flag_in(c, r) ? mem_strdup(r->summary) : NULL;
	if (list_in(c, r)->n == 0)
		return NULL;
	strv_add_all(&sorted, list_in(c, r));
	strv_sort(&sorted);
	auto_free char *items = strv_join(&sorted, "|");
	return mem_printf("%s=%s", r->summary, items);
}

char *grant_constraints_summary(const struct grant_constraints *c)
{
	AUTO(strv) parts = STRV_INIT(ARRAY_SIZE(rows));

	for (const struct row *r = rows; r < rows_end; r++) {
		char *part = summary_part(c, r);
		if (part)
			strv_take(&parts, part);
	}
	return parts.n > 0 ? strv_join(&parts, " ") : mem_strdup("none");
}

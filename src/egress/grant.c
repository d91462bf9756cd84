#include "egress/grant.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "net/host-pattern.h"

enum {
	ID_DIGITS = 24,
	METHOD_MAX = 32,
	SESSION_LEAST = 60,
	SESSION_LARGEST = 14400,
	SESSION_DEFAULT = 900,
};

void egress_grant_done(struct egress_grant *g)
{
	free(g->id);
	subject_done(&g->subject);
	free(g->scope);
	strv_done(&g->hosts);
	free(g->cidrs);
	strv_done(&g->methods);
}

static int at(struct error *err, const char *path)
{
	error_add_detail(err, "path", json_string(path));
	return -1;
}

static int at_item(struct error *err, const char *list, size_t i)
{
	auto_free char *path = mem_printf("%s[%zu]", list, i);

	return at(err, path);
}

/* ---- Fields that are there ---- */

static int check_fields(json_t *object, struct error *err)
{
	static const char *const fields[] = {"id", "subject", "scope", "hosts", "cidrs", "ports",
		"methods", "max_bytes_up", "max_bytes_down", "session_ttl_s", "expires_at",
		"created_at", "created_by", "revoked_at"};
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		bool known = false;
		for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
			known |= strcmp(fields[i], key) == 0;
		if (known)
			continue;
		error_set(err, ERROR_EGRESS_GRANT_UNKNOWN_FIELD, "a grant has no field %s",
			quoted_string(key));
		return at(err, key);
	}
	return 0;
}

static bool is_given(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return value && !json_is_null(value);
}

static int read_id(json_t *object, struct egress_grant *g, struct error *err)
{
	struct text id = json_get_text(object, "id");

	if (!id.p || !text_starts(id, "egress_") || !text_is_hex(text_after(id, 7), ID_DIGITS)) {
		error_set(err, ERROR_EGRESS_GRANT_INVALID, "%s is no ID of a grant",
			quoted(id.p ? id : TEXT("")));
		return at(err, "id");
	}
	g->id = mem_strndup(id.p, id.len);
	return 0;
}

static bool label_valid(struct text t)
{
	uint32_t c;
	size_t n;

	for (; t.len > 0; t = text_after(t, n)) {
		n = utf8_next(t, &c);
		if (n == 0 || c < 0x20 || (c >= 0x7f && c <= 0x9f))
			return false;
	}
	return true;
}

static int read_who(json_t *object, struct egress_grant *g, struct error *err)
{
	struct text subject = json_get_text(object, "subject"),
		    scope = json_get_text(object, "scope");

	if (subject_parse(subject.p ? subject : TEXT(""), &g->subject, err) < 0)
		return at(err, "subject");
	if ((!scope.p && is_given(object, "scope")) || scope.len > EGRESS_GRANT_SCOPE_MAX ||
		!label_valid(scope)) {
		error_set(err, ERROR_EGRESS_GRANT_INVALID, "the scope %s is no label",
			quoted(scope.p ? scope : TEXT("")));
		return at(err, "scope");
	}
	g->scope = mem_strndup(scope.p ? scope.p : "", scope.len);
	return 0;
}

/* ---- Lists ---- */

static int check_counts(json_t *object, struct error *err)
{
	static const struct {
		const char *key;
		size_t max;
	} rows[] = {{"hosts", EGRESS_GRANT_HOSTS_MAX}, {"cidrs", EGRESS_GRANT_CIDRS_MAX},
		{"ports", EGRESS_GRANT_PORTS_MAX}, {"methods", EGRESS_GRANT_METHODS_MAX}};

	if (json_array_size(json_object_get(object, "hosts")) == 0 &&
		json_array_size(json_object_get(object, "cidrs")) == 0) {
		error_set(
			err, ERROR_EGRESS_GRANT_EMPTY, "the grant names neither hosts nor ranges");
		return at(err, "hosts");
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t n = json_array_size(json_object_get(object, rows[i].key));
		if (n <= rows[i].max)
			continue;
		error_set(err, ERROR_EGRESS_TOO_MANY, "%s has %zu entries, more than %zu",
			rows[i].key, n, rows[i].max);
		return at(err, rows[i].key);
	}
	return 0;
}

/* What is no list is not taken for none: the default may be wider. */
static int find_list(
	json_t *object, const char *key, enum error_code code, json_t **ret, struct error *err)
{
	*ret = json_object_get(object, key);
	if (json_is_array(*ret) || !is_given(object, key))
		return 0;
	error_set(err, code, "%s is no list", key);
	return at(err, key);
}

/* Text of an item; what is no text is empty, which every grammar refuses. */
static struct text item_text(json_t *list, size_t i)
{
	json_t *item = json_array_get(list, i);

	return json_is_string(item) ? json_text(item) : TEXT("");
}

static int add_once(struct strv *list, const char *item)
{
	return strv_has(list, item) ? 0 : strv_add(list, item);
}

static int read_hosts(json_t *object, struct egress_grant *g, struct error *err)
{
	char folded[HOST_PATTERN_SIZE];
	json_t *list;

	if (find_list(object, "hosts", ERROR_EGRESS_HOST_INVALID, &list, err) < 0)
		return -1;
	g->hosts = STRV_INIT(EGRESS_GRANT_HOSTS_MAX);
	for (size_t i = 0; i < json_array_size(list); i++)
		if (host_pattern_parse(item_text(list, i), folded, err) < 0 ||
			add_once(&g->hosts, folded) < 0)
			return at_item(err, "hosts", i);
	strv_sort(&g->hosts);
	return 0;
}

static int check_metadata(json_t *list, const struct egress_grant *g, struct error *err)
{
	struct cidr_list all = {g->cidrs, g->n_cidrs}, none = {NULL, 0};
	struct metadata_services found;

	for (size_t i = 0; i < json_array_size(list); i++) {
		struct cidr c;
		if (cidr_parse(item_text(list, i), &c, err) < 0)
			return at_item(err, "cidrs", i);
		metadata_find(&c, all, none, &found);
		if (found.n > 0) {
			metadata_refuse(&c, &found, err);
			return at_item(err, "cidrs", i);
		}
	}
	return 0;
}

static int read_cidrs(json_t *object, bool metadata, struct egress_grant *g, struct error *err)
{
	json_t *list;

	if (find_list(object, "cidrs", ERROR_EGRESS_CIDR_INVALID, &list, err) < 0)
		return -1;
	size_t n = json_array_size(list);
	g->cidrs = mem_alloc((n + 1) * sizeof(*g->cidrs));
	for (size_t i = 0; i < n; i++)
		if (egress_lists_read_cidr(item_text(list, i), &g->cidrs[i], err) < 0)
			return at_item(err, "cidrs", i);
	g->n_cidrs = cidr_normalize(g->cidrs, n);
	return metadata ? check_metadata(list, g, err) : 0;
}

static int read_ports(json_t *object, struct egress_grant *g, struct error *err)
{
	static const uint16_t usual[] = {80, 443};
	json_t *list;

	if (find_list(object, "ports", ERROR_EGRESS_PORT_INVALID, &list, err) < 0)
		return -1;
	size_t n = json_array_size(list);
	for (size_t i = 0; i < n; i++) {
		json_t *item = json_array_get(list, i);
		json_int_t port = json_is_integer(item) ? json_integer_value(item) : 0;
		if (port < 1 || port > UINT16_MAX) {
			error_set(err, ERROR_EGRESS_PORT_INVALID, "the port is not from 1 to %d",
				UINT16_MAX);
			return at_item(err, "ports", i);
		}
		g->ports[i] = (uint16_t)port;
	}
	g->n_ports = egress_lists_sort_ports(g->ports, n);
	if (n == 0) {
		memcpy(g->ports, usual, sizeof(usual));
		g->n_ports = ARRAY_SIZE(usual);
	}
	return 0;
}

static bool fold_method(struct text t, char out[METHOD_MAX + 1])
{
	bool star = text_is(t, "*");

	if (t.len == 0 || t.len > METHOD_MAX)
		return false;
	for (size_t i = 0; i < t.len; i++) {
		if (!star && !ascii_alpha(t.p[i]))
			return false;
		out[i] = ascii_lower(t.p[i]) ? (char)(t.p[i] - 'a' + 'A') : t.p[i];
	}
	out[t.len] = '\0';
	return true;
}

static int read_methods(json_t *object, struct egress_grant *g, struct error *err)
{
	char method[METHOD_MAX + 1];
	json_t *list;

	if (find_list(object, "methods", ERROR_EGRESS_METHOD_INVALID, &list, err) < 0)
		return -1;
	g->methods = STRV_INIT(EGRESS_GRANT_METHODS_MAX);
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (!fold_method(item_text(list, i), method)) {
			error_set(err, ERROR_EGRESS_METHOD_INVALID, "%s is no method",
				quoted(item_text(list, i)));
			return at_item(err, "methods", i);
		}
		if (add_once(&g->methods, method) < 0)
			return at_item(err, "methods", i);
	}
	if (g->methods.n == 0 || strv_has(&g->methods, "*")) {
		strv_done(&g->methods);
		g->methods = STRV_INIT(1);
		return strv_add(&g->methods, "*");
	}
	strv_sort(&g->methods);
	return 0;
}

/* ---- Numbers and times ---- */

static int read_quota(json_t *object, const char *key, uint64_t *ret, struct error *err)
{
	json_t *value = json_object_get(object, key);
	json_int_t n = json_is_integer(value) ? json_integer_value(value) : -1;

	if (!value || json_is_null(value))
		return 0;
	if (n < 0 || (uint64_t)n > EGRESS_GRANT_BYTES_MAX) {
		error_set(err, ERROR_EGRESS_QUOTA_INVALID, "%s is no number of bytes", key);
		return at(err, key);
	}
	*ret = (uint64_t)n;
	return 0;
}

static int read_session_ttl(json_t *object, int64_t *ret, struct error *err)
{
	json_t *value = json_object_get(object, "session_ttl_s");
	json_int_t n = json_is_integer(value) ? json_integer_value(value) : 0;

	*ret = SESSION_DEFAULT;
	if (!value || json_is_null(value))
		return 0;
	if (n < SESSION_LEAST || n > SESSION_LARGEST) {
		error_set(err, ERROR_EGRESS_TTL_INVALID, "a session lasts %d to %d seconds",
			SESSION_LEAST, SESSION_LARGEST);
		return at(err, "session_ttl_s");
	}
	*ret = n;
	return 0;
}

static int read_time(json_t *object, const char *key, int64_t *ret, struct error *err)
{
	json_t *value = json_object_get(object, key);

	if (!value || json_is_null(value))
		return 0;
	if (json_is_string(value) && num_parse_rfc3339(json_text(value), ret))
		return 0;
	error_set(err, ERROR_EGRESS_TTL_INVALID, "%s is no time", key);
	return at(err, key);
}

static int read_times(json_t *object, struct egress_grant *g, struct error *err)
{
	if (read_time(object, "created_at", &g->created_at_ns, err) < 0 ||
		read_time(object, "expires_at", &g->expires_at_ns, err) < 0)
		return -1;
	if (g->created_at_ns && !g->expires_at_ns &&
		__builtin_add_overflow(g->created_at_ns, INT64_C(1000000000) * EGRESS_GRANT_TTL,
			&g->expires_at_ns))
		g->expires_at_ns = INT64_MAX;
	if (g->expires_at_ns && g->expires_at_ns <= g->created_at_ns) {
		error_set(err, ERROR_EGRESS_TTL_INVALID, "the grant ends before it begins");
		return at(err, "expires_at");
	}
	return 0;
}

static int read_all(json_t *object, bool metadata, struct egress_grant *ret, struct error *err)
{
	*ret = (struct egress_grant){.id = NULL};
	if (check_fields(object, err) < 0 || read_id(object, ret, err) < 0 ||
		read_who(object, ret, err) < 0 || check_counts(object, err) < 0 ||
		read_hosts(object, ret, err) < 0 || read_cidrs(object, metadata, ret, err) < 0 ||
		read_ports(object, ret, err) < 0 || read_methods(object, ret, err) < 0 ||
		read_quota(object, "max_bytes_up", &ret->max_bytes_up, err) < 0 ||
		read_quota(object, "max_bytes_down", &ret->max_bytes_down, err) < 0 ||
		read_session_ttl(object, &ret->session_ttl_s, err) < 0)
		return -1;
	return read_times(object, ret, err);
}

int egress_grant_read(json_t *object, struct egress_grant *ret, struct error *err)
{
	return read_all(object, true, ret, err);
}

int egress_grant_recall(json_t *object, struct egress_grant *ret, struct error *err)
{
	return read_all(object, false, ret, err);
}

json_t *egress_grant_to_json(const struct egress_grant *g)
{
	json_t *cidrs = json_array(), *ports = json_array();
	char text[CIDR_TEXT_SIZE];

	for (size_t i = 0; i < g->n_cidrs; i++) {
		cidr_text(&g->cidrs[i], text);
		json_array_append_new(cidrs, json_string(text));
	}
	for (size_t i = 0; i < g->n_ports; i++)
		json_array_append_new(ports, json_integer(g->ports[i]));
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I}", "id", g->id,
		"subject", g->subject.text, "scope", g->scope, "hosts",
		json_from_strings(g->hosts.v, g->hosts.n), "cidrs", cidrs, "ports", ports,
		"methods", json_from_strings(g->methods.v, g->methods.n), "max_bytes_up",
		(json_int_t)g->max_bytes_up, "max_bytes_down", (json_int_t)g->max_bytes_down,
		"session_ttl_s", (json_int_t)g->session_ttl_s);
}

int egress_grant_bytes(struct text t, uint64_t *ret, struct error *err)
{
	static const char units[] = "bkmgt";
	struct text digits = t;
	unsigned shift = 0;
	uint64_t n;

	if (t.len == 0 || text_is(t, "0") || text_is(t, "unlimited")) {
		*ret = 0;
		return 0;
	}
	const char *unit = strchr(units, ascii_to_lower(t.p[t.len - 1]));
	if (unit && *unit) {
		shift = (unsigned)(unit - units) * 10;
		digits.len--;
	}
	if (num_parse(digits, EGRESS_GRANT_BYTES_MAX >> shift, &n) != NUM_OK || n == 0)
		return error_set(
			err, ERROR_EGRESS_QUOTA_INVALID, "%s is no number of bytes", quoted(t));
	*ret = n << shift;
	return 0;
}

#include "run/egress-grants.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "store/audit.h"
#include "store/journal.h"
#include "store/query.h"
#include "vault/fresh-id.h"
#include "vault/time-json.h"

enum { ID_SIZE = 32, POLICY_MAX = 1 << 20, LINE_MAX_BYTES = 1 << 18 };

/* What a row keeps of a grant's fields in one text. */
static const char *const policy_members[] = {
	"hosts", "cidrs", "ports", "methods", "max_bytes_up", "max_bytes_down", "session_ttl_s"};

/* ---- State ---- */

int64_t egress_grants_end(const struct store_egress_grant *g, const struct two_clocks *now)
{
	struct two_clocks begun = {g->created_at, g->boottime_ms, g->boot_id};

	return two_clocks_end(&begun, g->expires_at, now);
}

enum grant_state egress_grants_state(
	const struct store_egress_grant *g, const struct two_clocks *now)
{
	if (g->revoked_at != 0)
		return GRANT_REVOKED;
	return egress_grants_end(g, now) <= now->realtime ? GRANT_EXPIRED : GRANT_ACTIVE;
}

typedef int read_fn(json_t *object, struct egress_grant *ret, struct error *err);

static int read_row(const struct store_egress_grant *g, read_fn *read, struct egress_grant *ret,
	struct error *err)
{
	auto_json *object =
		json_read(g->policy, POLICY_MAX, "the policy", ERROR_STORE_CORRUPT, err);

	*ret = (struct egress_grant){.id = NULL};
	if (!object)
		return -1;
	json_object_set_new(object, "id", json_from_bytes(g->id));
	json_object_set_new(object, "subject", json_from_bytes(g->subject));
	json_object_set_new(object, "scope", json_from_bytes(g->scope));
	if (read(object, ret, err) < 0)
		return -1;
	ret->created_at_ns = g->created_at * INT64_C(1000000000);
	ret->expires_at_ns = g->expires_at * INT64_C(1000000000);
	return 0;
}

int egress_grants_read(
	const struct store_egress_grant *g, struct egress_grant *ret, struct error *err)
{
	return read_row(g, egress_grant_read, ret, err);
}

int egress_grants_recall(
	const struct store_egress_grant *g, struct egress_grant *ret, struct error *err)
{
	return read_row(g, egress_grant_recall, ret, err);
}

/* ---- Words ---- */

static void add_list(struct str *out, const char *name, const json_t *list, const char *separator)
{
	size_t i;
	json_t *item;

	if (json_array_size(list) == 0)
		return;
	str_addf(out, "%s%s=", out->len ? " " : "", name);
	json_array_foreach(list, i, item)
	{
		str_add_text(out, i ? separator : "");
		if (json_is_string(item))
			str_add_text(out, json_string_value(item));
		else
			str_addf(out, "%lld", (long long)json_integer_value(item));
	}
}

/* As the command line takes it. */
static void add_bytes(struct str *out, const char *name, int64_t bytes)
{
	static const char units[] = "bkmgt";
	size_t unit = 0;

	if (bytes == 0)
		return;
	for (; bytes % 1024 == 0 && unit < strlen(units) - 1; unit++)
		bytes /= 1024;
	str_addf(out, " %s<=%lld%c", name, (long long)bytes, units[unit]);
}

static json_t *policy_line(const json_t *policy)
{
	AUTO(str) out = STR_INIT(LINE_MAX_BYTES);

	add_list(&out, "hosts", json_object_get(policy, "hosts"), "|");
	add_list(&out, "cidrs", json_object_get(policy, "cidrs"), "|");
	add_list(&out, "ports", json_object_get(policy, "ports"), ",");
	add_list(&out, "methods", json_object_get(policy, "methods"), "|");
	add_bytes(&out, "up", json_get_int(policy, "max_bytes_up", 0));
	add_bytes(&out, "down", json_get_int(policy, "max_bytes_down", 0));
	return json_string(str_text(&out));
}

static json_t *expires_text(const struct store_egress_grant *g, const struct two_clocks *now)
{
	enum grant_state state = egress_grants_state(g, now);

	if (state != GRANT_ACTIVE)
		return json_string(grant_state_text(state));
	auto_free char *left = grant_left_text(egress_grants_end(g, now) - now->realtime);
	return json_string(left);
}

json_t *egress_grants_describe(const struct store_egress_grant *g, const struct two_clocks *now)
{
	auto_error struct error ignored = ERROR_INIT;
	auto_json *policy =
		json_read(g->policy, POLICY_MAX, "the policy", ERROR_STORE_CORRUPT, &ignored);
	json_t *j = json_pack("{s:o, s:o, s:o}", "id", json_from_bytes(g->id), "subject",
		json_from_bytes(g->subject), "scope", json_from_bytes(g->scope));

	for (size_t i = 0; i < ARRAY_SIZE(policy_members); i++)
		json_object_set(j, policy_members[i], json_object_get(policy, policy_members[i]));
	json_object_set_new(j, "policy", policy ? policy_line(policy) : json_string("unreadable"));
	json_object_set_new(j, "created_at", time_json(g->created_at));
	json_object_set_new(j, "created_by", json_from_bytes(g->created_by));
	json_object_set_new(j, "expires_at", time_json(g->expires_at));
	json_object_set_new(j, "expires", expires_text(g, now));
	json_object_set_new(j, "revoked_at", time_json(g->revoked_at));
	json_object_set_new(
		j, "status", json_string(grant_state_text(egress_grants_state(g, now))));
	json_object_set_new(
		j, "revocation", g->state.len > 0 ? json_from_bytes(g->state) : json_null());
	return j;
}

static bool in_a_range(const struct egress_grant *g, const struct address *a)
{
	for (size_t i = 0; i < g->n_cidrs; i++)
		if (cidr_has(&g->cidrs[i], a))
			return true;
	return false;
}

json_t *egress_grants_notes(const struct egress_grant *g)
{
	json_t *notes = json_array();
	char range[CIDR_TEXT_SIZE];

	for (size_t i = 0; i < g->n_cidrs; i++) {
		enum special_class class = cidr_class(&g->cidrs[i]);
		if (class == SPECIAL_NONE)
			continue;
		cidr_text(&g->cidrs[i], range);
		json_array_append_new(notes,
			json_sprintf("%s is not public (%s): runs under this grant reach what "
				     "this host reaches there",
				range, special_class_text(class)));
	}
	strv_foreach (host, &g->hosts) {
		struct address a;
		if (!address_parse(text_of(*host), &a) || in_a_range(g, &a) ||
			special_address_class(a.family, a.bytes) == SPECIAL_NONE)
			continue;
		json_array_append_new(notes,
			json_sprintf("%s is not public and stays closed: name it as a range too, "
				     "--cidrs %s/%u",
				*host, *host, address_bits(&a)));
	}
	return notes;
}

/* ---- Minting ---- */

static int audit(struct store *s, const json_t *described, const char *actor, struct error *err)
{
	static const char *const members[] = {"subject", "scope", "policy", "expires_at"};
	auto_json *payload = json_pack("{s:s, s:s, s:O}", "decision", "allow", "actor", actor,
		"grant_id", json_object_get(described, "id"));
	struct store_audit_event event = {
		.action = "egress.grant", .entity = "egress", .actor = actor, .payload = payload};

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		json_object_set(payload, members[i], json_object_get(described, members[i]));
	return store_audit_add(s, &event, err);
}

static int journal(
	struct store *s, const struct egress_grant *g, const json_t *described, struct error *err)
{
	if (g->subject.kind != SUBJECT_PROJECT)
		return 0;
	auto_free char *project = mem_strndup(g->subject.id.p, g->subject.id.len);
	auto_free char *said = mem_printf("egress grant %s until %s: %s", g->id,
		json_get_string(described, "expires_at"), json_get_string(described, "policy"));
	struct store_event event = {.project = project, .kind = "egress.grant", .message = said};

	return store_journal_add(s, &event, err);
}

static int add(struct store *s, const struct egress_grants_request *request,
	const struct egress_grant *g, const struct two_clocks *now, json_t **ret, struct error *err)
{
	auto_json *whole = egress_grant_to_json(g);
	auto_json *policy = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(policy_members); i++)
		json_object_set(
			policy, policy_members[i], json_object_get(whole, policy_members[i]));
	auto_free char *line = json_write(policy);
	struct store_egress_grant row = {
		.id = text_of(g->id),
		.subject = text_of(g->subject.text),
		.scope = text_of(g->scope),
		.policy = text_of(line),
		.created_by = text_of(request->actor),
		.created_at = now->realtime,
		.expires_at = now->realtime + request->ttl,
		.boot_id = now->boot_id,
		.boottime_ms = now->boottime_ms,
	};
	auto_json *described = egress_grants_describe(&row, now);
	json_object_set_new(described, "notes", egress_grants_notes(g));
	if (store_egress_grant_add(s, &row, err) < 0 ||
		audit(s, described, request->actor, err) < 0 || journal(s, g, described, err) < 0)
		return -1;
	*ret = json_incref(described);
	return 0;
}

int egress_grants_make(struct store *s, const struct egress_grants_request *request,
	const struct two_clocks *now, json_t **ret, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	AUTO(egress_grant) g = {.id = NULL};
	auto_json *fields = json_copy(request->fields);
	auto_json *described = NULL;
	char id[ID_SIZE];

	if (fresh_id("egress_", id, sizeof(id), err) < 0)
		return -1;
	json_object_set_new(fields, "id", json_string(id));
	if (egress_grant_read(fields, &g, err) < 0 || query_begin(s, &t, err) < 0 ||
		add(s, request, &g, now, &described, err) < 0 || query_commit(&t, err) < 0)
		return -1;
	*ret = json_incref(described);
	return 0;
}

/* ---- Lists ---- */

struct listing {
	const struct egress_grants_filter *filter;
	const struct two_clocks *now;
	json_t *list;
};

/* It holds, or what runs have by it is not taken back yet. */
static bool is_current(const struct store_egress_grant *g, const struct two_clocks *now)
{
	enum grant_state state = egress_grants_state(g, now);

	return state == GRANT_ACTIVE ||
	       (state == GRANT_REVOKED && g->state.len > 0 && !text_is(g->state, "revoked"));
}

static void list_row(void *data, const struct store_egress_grant *g)
{
	const struct listing *l = data;
	const struct egress_grants_filter *f = l->filter;

	if ((f->all || is_current(g, l->now)) &&
		(!f->subject.p || text_equal(f->subject, g->subject)))
		json_array_append_new(l->list, egress_grants_describe(g, l->now));
}

int egress_grants_list(struct store *s, const struct egress_grants_filter *filter,
	const struct two_clocks *now, json_t *list, struct error *err)
{
	struct listing l = {filter, now, list};

	return store_egress_grant_list(s, 0, list_row, &l, err);
}

#include "vault/grant.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "store/audit.h"
#include "store/query.h"
#include "store/secret.h"
#include "vault/fresh-id.h"
#include "vault/grant-constraint.h"
#include "vault/material.h"
#include "vault/subject.h"
#include "vault/time-json.h"

enum { CONSTRAINTS_MAX = 1 << 20 };

static const char *const state_names[] = {
	[GRANT_ACTIVE] = "active",
	[GRANT_EXPIRED] = "expired",
	[GRANT_REVOKED] = "revoked",
};
static_assert(ARRAY_SIZE(state_names) == GRANT_STATE_COUNT, "a name for every state");

const char *grant_state_text(enum grant_state state)
{
	return state_names[state];
}

int64_t grant_end(const struct store_grant *g, const struct two_clocks *now)
{
	struct two_clocks begun = {g->created_at, g->boottime_ms, g->boot_id};

	return two_clocks_end(&begun, g->expires_at, now);
}

enum grant_state grant_state(const struct store_grant *g, const struct two_clocks *now)
{
	if (g->revoked_at != 0)
		return GRANT_REVOKED;
	return grant_end(g, now) <= now->realtime ? GRANT_EXPIRED : GRANT_ACTIVE;
}

char *grant_left_text(int64_t seconds)
{
	static const struct {
		int64_t seconds;
		char unit;
	} parts[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
	size_t i = 0;

	while (i < ARRAY_SIZE(parts) - 1 && seconds < parts[i].seconds)
		i++;
	int64_t n = seconds / parts[i].seconds, rest = seconds % parts[i].seconds;
	if (i + 1 == ARRAY_SIZE(parts) || rest / parts[i + 1].seconds == 0)
		return mem_printf("%lld%c", (long long)n, parts[i].unit);
	return mem_printf("%lld%c%lld%c", (long long)n, parts[i].unit,
		(long long)(rest / parts[i + 1].seconds), parts[i + 1].unit);
}

static json_t *expires_text(const struct store_grant *g, const struct two_clocks *now)
{
	enum grant_state state = grant_state(g, now);

	if (state != GRANT_ACTIVE)
		return json_string(grant_state_text(state));
	auto_free char *left = grant_left_text(grant_end(g, now) - now->realtime);
	return json_string(left);
}

/* What the table holds was judged when it was written; a row that reads otherwise shows nothing. */
static void describe_constraints(const struct store_grant *g, json_t *j)
{
	auto_error struct error ignored = ERROR_INIT;
	struct grant_constraints c = {.writable = false};
	int kind = secret_kind_from_text(g->kind);
	auto_json *object = json_read(
		g->constraints, CONSTRAINTS_MAX, "constraints", ERROR_STORE_CORRUPT, &ignored);

	if (!object || kind < 0 ||
		grant_constraints_read((enum secret_kind)kind, object, &c, &ignored) < 0) {
		json_object_set_new(j, "constraints", json_null());
		json_object_set_new(j, "summary", json_string("unreadable"));
		return;
	}
	auto_free char *summary = grant_constraints_summary(&c);
	json_object_set_new(j, "constraints", grant_constraints_to_json(&c));
	json_object_set_new(j, "summary", json_from_string(summary));
	grant_constraints_done(&c);
}

json_t *grant_describe(const struct store_grant *g, const struct two_clocks *now)
{
	json_t *j = json_pack("{s:o, s:o, s:o, s:o, s:o}", "id", json_from_bytes(g->id), "secret",
		json_from_bytes(g->name), "secret_id", json_from_bytes(g->secret), "kind",
		json_from_bytes(g->kind), "subject", json_from_bytes(g->subject));

	describe_constraints(g, j);
	json_object_set_new(j, "scope", json_from_bytes(g->scope));
	json_object_set_new(j, "created_at", time_json(g->created_at));
	json_object_set_new(j, "created_by", json_from_bytes(g->created_by));
	json_object_set_new(j, "expires_at", time_json(g->expires_at));
	json_object_set_new(j, "expires", expires_text(g, now));
	json_object_set_new(j, "revoked_at", time_json(g->revoked_at));
	json_object_set_new(j, "state", json_string(grant_state_text(grant_state(g, now))));
	json_object_set_new(
		j, "revocation", g->state.len > 0 ? json_from_bytes(g->state) : json_null());
	return j;
}

/* ---- Minting ---- */

/* A personal secret is its owner's to give, and to somebody in particular (§12). */
static int judge_owner(const struct store_secret *secret, const struct grant_request *request,
	const struct subject *subject, struct error *err)
{
	if (!secret->owner)
		return 0;
	if (strcmp(secret->owner, request->actor) != 0)
		return error_set(err, ERROR_SECRET_NOT_OWNER, "secret %s belongs to somebody else",
			quoted_string(secret->name));
	if (subject_is_wide(subject))
		return error_set(err, ERROR_SECRET_NOT_OWNER,
			"secret %s is personal and cannot be granted to %s",
			quoted_string(secret->name), quoted_string(subject->text));
	return 0;
}

static int judge_scope(const char *scope, struct error *err)
{
	struct text t = text_of(scope ? scope : "");

	if (t.len <= GRANT_SCOPE_MAX && utf8_valid(t) && !text_has_control(t))
		return 0;
	error_set(err, ERROR_OUT_OF_RANGE, "scope %s", quoted(t));
	return error_set_remedy(
		err, "at most %d bytes without control characters", GRANT_SCOPE_MAX);
}

/* In the transaction of grant_make(). */
static int add(struct store *s, const struct store_grant *row, const json_t *described,
	const char *actor, struct error *err)
{
	static const char *const members[] = {
		"id", "secret", "secret_id", "kind", "subject", "summary", "scope", "expires_at"};
	auto_json *payload = json_object();
	struct store_audit_event event = {
		.action = "secret.grant", .entity = "grant", .actor = actor, .payload = payload};

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		json_object_set(payload, members[i], json_object_get(described, members[i]));
	return store_grant_add(s, row, err) < 0 ? -1 : store_audit_add(s, &event, err);
}

static int mint(struct store *s, const struct store_secret *secret,
	const struct grant_request *request, const struct two_clocks *now, json_t **ret,
	struct error *err)
{
	AUTO(subject) subject = {.text = NULL};
	AUTO(grant_constraints) constraints = {.writable = false};
	char id[GRANT_ID_SIZE];
	enum secret_kind kind = SECRET_ENV;

	if (secret_kind_parse(text_of(secret->kind), &kind, err) < 0 ||
		subject_parse(request->subject, &subject, err) < 0 ||
		judge_owner(secret, request, &subject, err) < 0 ||
		grant_constraints_read(kind, request->constraints, &constraints, err) < 0 ||
		judge_scope(request->scope, err) < 0 || fresh_id("grant_", id, sizeof(id), err) < 0)
		return -1;
	auto_json *object = grant_constraints_to_json(&constraints);
	auto_free char *line = json_write(object);
	struct store_grant row = {
		.id = text_of(id),
		.secret = text_of(secret->id),
		.name = text_of(secret->name),
		.kind = text_of(secret->kind),
		.subject = text_of(subject.text),
		.constraints = text_of(line),
		.scope = text_of(request->scope ? request->scope : ""),
		.created_by = text_of(request->actor),
		.created_at = now->realtime,
		.expires_at = now->realtime + request->ttl,
		.boot_id = now->boot_id,
		.boottime_ms = now->boottime_ms,
	};
	auto_json *described = grant_describe(&row, now);
	if (add(s, &row, described, request->actor, err) < 0)
		return -1;
	*ret = json_incref(described);
	return 0;
}

int grant_make(struct store *s, const struct grant_request *request, const struct two_clocks *now,
	json_t **ret, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	AUTO(store_secret) secret = STORE_SECRET_INIT;
	auto_json *described = NULL;

	/* In one transaction: the secret that is granted is not deleted meanwhile. */
	if (query_begin(s, &t, err) < 0)
		return -1;
	int r = store_secret_find(s, request->secret, &secret, err);
	if (r > 0)
		return error_set(err, ERROR_SECRET_NOT_FOUND, "there is no secret %s",
			quoted_string(request->secret));
	if (r < 0 || mint(s, &secret, request, now, &described, err) < 0 ||
		query_commit(&t, err) < 0)
		return -1;
	*ret = json_incref(described);
	return 0;
}

/* ---- Lists ---- */

struct listing {
	const struct grant_filter *filter;
	const struct two_clocks *now;
	json_t *list;
};

/* It delivers, or what it delivered is not taken back yet. */
static bool is_current(const struct store_grant *g, const struct two_clocks *now)
{
	enum grant_state state = grant_state(g, now);

	return state == GRANT_ACTIVE ||
	       (state == GRANT_REVOKED && g->state.len > 0 && !text_is(g->state, "revoked"));
}

static void list_row(void *data, const struct store_grant *g)
{
	const struct listing *l = data;
	const struct grant_filter *f = l->filter;

	if ((f->all || is_current(g, l->now)) &&
		(!f->subject.p || text_equal(f->subject, g->subject)) &&
		(!f->secret || text_is(g->name, f->secret)))
		json_array_append_new(l->list, grant_describe(g, l->now));
}

int grant_list(struct store *s, const struct grant_filter *filter, const struct two_clocks *now,
	json_t *list, struct error *err)
{
	struct listing l = {filter, now, list};

	return store_grant_list(s, list_row, &l, err);
}

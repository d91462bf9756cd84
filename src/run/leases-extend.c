/* A lease that lives on (disk-and-secrets.md §17). */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "run/egress-grants.h"
#include "run/egress-sessions.h"
#include "run/leases.h"
#include "store/audit.h"
#include "store/grant.h"
#include "store/lease.h"
#include "store/query.h"
#include "vault/clocks-now.h"
#include "vault/grant.h"
#include "vault/lease-judge.h"
#include "vault/material.h"
#include "vault/time-json.h"

struct held {
	char grant[GRANT_ID_SIZE];
	char kind[32];
	bool taken_back;
	struct lease_grant terms;
};

struct extension {
	struct two_clocks now;
	const char *run;
	char lease[LEASE_ID_SIZE];
	enum store_lease_state state;
	int64_t expires_at, hard_end;
	struct held held[MATERIAL_BINDINGS_MAX];
	size_t n_held;
};

static void copy_text(struct text from, char *to, size_t size)
{
	snprintf(to, size, "%.*s", (int)from.len, from.p ? from.p : "");
}

static void read_lease(void *data, const struct store_lease *l)
{
	struct extension *x = data;

	copy_text(l->id, x->lease, sizeof(x->lease));
	x->state = l->state;
	x->expires_at = l->expires_at;
	x->hard_end = l->hard_end;
}

static void read_holding(void *data, const struct store_holding *h)
{
	struct extension *x = data;

	if (x->n_held == MATERIAL_BINDINGS_MAX)
		return;
	struct held *one = &x->held[x->n_held++];
	copy_text(h->grant, one->grant, sizeof(one->grant));
	copy_text(h->kind, one->kind, sizeof(one->kind));
	one->taken_back = h->taken_back;
}

struct terms {
	const struct two_clocks *now;
	struct lease_grant *ret;
};

static void read_terms(void *data, const struct store_grant *g)
{
	struct terms *t = data;

	*t->ret = (struct lease_grant){
		.expires_at = grant_end(g, t->now), .revoked = g->revoked_at != 0};
}

static void read_egress_terms(void *data, const struct store_egress_grant *g)
{
	struct terms *t = data;

	*t->ret = (struct lease_grant){
		.expires_at = egress_grants_end(g, t->now), .revoked = g->revoked_at != 0};
}

/* 0, or 1 = there is none. */
static int show_terms(
	struct store *s, const struct held *one, struct terms *terms, struct error *err)
{
	if (strcmp(one->kind, "egress") == 0)
		return store_egress_grant_show(s, one->grant, read_egress_terms, terms, err);
	return store_grant_show(s, one->grant, read_terms, terms, err);
}

/* Delivery ended by itself: on record once. */
static int expire(
	struct store *s, const struct extension *x, const struct held *one, struct error *err)
{
	auto_json *payload = json_pack(
		"{s:s, s:s, s:s}", "lease", x->lease, "handle", x->run, "grant", one->grant);
	struct store_audit_event event = {
		.action = "lease.expire", .entity = "lease", .actor = "system", .payload = payload};

	return store_lease_take_back(s, x->lease, one->grant, err) < 0
		       ? -1
		       : store_audit_add(s, &event, err);
}

/* A grant that is gone from the table is not one that holds. */
static int judge(struct store *s, struct extension *x, struct held *one, struct error *err)
{
	struct terms terms = {&x->now, &one->terms};
	int r = show_terms(s, one, &terms, err);

	if (r < 0)
		return -1;
	bool live = one->terms.expires_at > x->now.realtime;
	one->terms.revoked = one->terms.revoked || r > 0 || (one->taken_back && live);
	if (r > 0 || live || one->terms.revoked || one->taken_back)
		return 0;
	return expire(s, x, one, err);
}

static json_t *answer(const struct extension *x, int64_t expires_in)
{
	json_t *grants = json_array();

	for (size_t i = 0; i < x->n_held; i++) {
		enum lease_verdict v = lease_judge_grant(&x->held[i].terms, x->now.realtime);
		json_array_append_new(
			grants, json_pack("{s:s, s:s, s:s}", "grant", x->held[i].grant, "kind",
					x->held[i].kind, "result", lease_verdict_text(v)));
	}
	return json_pack("{s:s, s:s, s:o, s:I, s:o, s:o}", "lease", x->lease, "run", x->run,
		"expires_at", time_json(x->expires_at), "expires_in_s", (json_int_t)expires_in,
		"hard_end", time_json(x->hard_end), "grants", grants);
}

static int audit(
	struct store *s, const struct extension *x, const json_t *answered, struct error *err)
{
	auto_json *payload =
		json_pack("{s:s, s:s, s:o, s:O}", "lease", x->lease, "handle", x->run, "expires_at",
			time_json(x->expires_at), "grants", json_object_get(answered, "grants"));
	struct store_audit_event event = {
		.action = "lease.extend", .entity = "lease", .actor = "system", .payload = payload};

	return store_audit_add(s, &event, err);
}

/* The new end, by the wall clock of now; seconds from now that a clock of one's own counts. */
static int64_t move_end(struct extension *x)
{
	struct lease_grant terms[MATERIAL_BINDINGS_MAX];
	enum lease_verdict verdicts[MATERIAL_BINDINGS_MAX];
	struct lease_clock clock = {x->now.realtime, LEASE_WINDOW};
	struct lease_life fresh;

	for (size_t i = 0; i < x->n_held; i++)
		terms[i] = x->held[i].terms;
	lease_judge(terms, x->n_held, clock, verdicts, &fresh);
	if (fresh.hard_end == LEASE_NEVER)
		return 0;
	struct lease_life life = {x->expires_at, fresh.hard_end};
	x->expires_at = lease_judge_extended(&life, clock);
	x->hard_end = fresh.hard_end;
	return fresh.expires_at - x->now.realtime;
}

static int extend(struct store *s, struct extension *x, json_t **ret, struct error *err)
{
	int64_t before = x->expires_at;

	for (size_t i = 0; i < x->n_held; i++)
		if (judge(s, x, &x->held[i], err) < 0)
			return -1;
	int64_t expires_in = move_end(x);
	json_t *session = NULL;
	if (egress_sessions_renew(s, x->run, &x->now, &session, err) < 0)
		return -1;
	*ret = answer(x, expires_in);
	json_object_set_new(*ret, "egress", session);
	if (store_lease_extend(s, x->lease, x->expires_at, x->hard_end, err) < 0)
		return -1;
	return x->expires_at == before ? 0 : audit(s, x, *ret, err);
}

int leases_extend(struct store *s, const char *handle, json_t **ret, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	auto_free struct extension *x = mem_alloc(sizeof(*x));
	auto_json *answered = NULL;

	x->now = clocks_now();
	x->run = handle;
	if (query_begin(s, &t, err) < 0)
		return -1;
	int r = store_lease_show_run(s, handle, read_lease, x, err);
	if (r > 0 || (r == 0 && x->state != STORE_LEASE_OPEN))
		return error_set(
			err, ERROR_LEASE_NOT_FOUND, "run %s holds no lease", quoted_string(handle));
	if (r < 0 || store_lease_holdings(s, x->lease, read_holding, x, err) < 0 ||
		extend(s, x, &answered, err) < 0 || query_commit(&t, err) < 0)
		return -1;
	*ret = json_incref(answered);
	return 0;
}

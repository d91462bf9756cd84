#include "run/revoke.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/scrub.h"
#include "run/context.h"
#include "run/leases.h"
#include "store/audit.h"
#include "store/egress-grant.h"
#include "store/grant.h"
#include "store/journal.h"
#include "store/lease.h"
#include "store/query.h"
#include "store/revocation.h"
#include "sys/clock.h"
#include "sys/log.h"
#include "vault/clocks-now.h"

enum { GRANTS_MAX = 1000000, REASON_MAX = 512, DUE_MS = 2000 };

/* ---- Storing ---- */

/* What the audit row says of a grant. */
struct revoked {
	json_t *payload;
	char *project; /* that an egress grant is for; NULL: another subject, or another grant */
	bool before;   /* it was revoked already */
};

static void revoked_done(struct revoked *r)
{
	json_decref(r->payload);
	free(r->project);
}

static void describe(void *data, const struct store_grant *g)
{
	struct revoked *r = data;

	r->before = g->revoked_at != 0;
	r->payload = json_pack("{s:o, s:o, s:o, s:o}", "grant", json_from_bytes(g->id), "secret",
		json_from_bytes(g->name), "kind", json_from_bytes(g->kind), "subject",
		json_from_bytes(g->subject));
}

static void describe_egress(void *data, const struct store_egress_grant *g)
{
	struct revoked *r = data;

	r->before = g->revoked_at != 0;
	r->payload = json_pack("{s:s, s:o, s:o}", "decision", "allow", "grant_id",
		json_from_bytes(g->id), "subject", json_from_bytes(g->subject));
	if (text_starts(g->subject, "project:/"))
		r->project = mem_strndup(g->subject.p + 8, g->subject.len - 8);
}

/* The two tables that grants are in, and how the ledger speaks of them. */
struct table {
	int (*look)(struct store *s, const char *id, struct revoked *r, struct error *err);
	int (*end)(struct store *s, const char *id, int64_t now, struct error *err);
	enum error_code none;
	const char *action, *entity;
};

static int look_secret(struct store *s, const char *id, struct revoked *r, struct error *err)
{
	return store_grant_show(s, id, describe, r, err);
}

static int look_egress(struct store *s, const char *id, struct revoked *r, struct error *err)
{
	return store_egress_grant_show(s, id, describe_egress, r, err);
}

static const struct table tables[] = {
	{look_secret, store_grant_revoke, ERROR_GRANT_NOT_FOUND, "secret.revoke", "grant"},
	{look_egress, store_egress_grant_revoke, ERROR_EGRESS_GRANT_NOT_FOUND, "egress.revoke",
		"egress"},
};

static const struct table *table_of(const char *grant)
{
	return &tables[text_starts(text_of(grant), "egress_")];
}

/* In the trail, and for the owner of the project that an egress grant was for. */
static int tell_ledger(struct store *s, const struct revoked *r, const struct revoke_order *order,
	struct error *err)
{
	struct store_audit_event event = {.action = table_of(order->grant)->action,
		.entity = table_of(order->grant)->entity,
		.actor = order->actor,
		.payload = r->payload};
	auto_free char *said = mem_printf("egress grant %s was revoked", order->grant);
	struct store_event row = {.project = r->project, .kind = "egress.revoke", .message = said};

	json_object_set_new(
		r->payload, "action", json_string(revocation_action_text(order->action)));
	json_object_set_new(r->payload, "reason", json_from_string(order->reason));
	if (store_audit_add(s, &event, err) < 0)
		return -1;
	return r->project && !r->before ? store_journal_add(s, &row, err) : 0;
}

static int add(struct store *s, const struct revoke_order *order, int64_t *ret, struct error *err)
{
	AUTO(str) reason = STR_INIT(REASON_MAX + 16);

	/* It is sent to the run and kept in its record, too. */
	scrub_add(&reason, text_of(order->reason ? order->reason : ""), REASON_MAX);
	struct store_revocation row = {
		.lease = text_of(order->lease),
		.grant = text_of(order->grant),
		.action = text_of(revocation_action_text(order->action)),
		.reason = text_of(str_text(&reason)),
		.actor = text_of(order->actor),
		.asked_at = clocks_now().realtime,
	};

	return store_revocation_add(s, &row, ret, err);
}

static void see_action(void *data, const struct store_revocation *r)
{
	*(int *)data = revocation_action_from_text(r->action);
}

/* 0 = the grant's revocation is stored already; 1 = it is not, or was to end no run. */
static int find_grant_order(
	struct store *s, const struct revoke_order *order, int64_t *ret, struct error *err)
{
	int action = -1;
	int r = store_revocation_of_grant(s, order->grant, ret, err);

	if (r != 0 || order->action != REVOCATION_KILL)
		return r;
	r = store_revocation_show(s, *ret, see_action, &action, err);
	return r < 0 ? -1 : action != REVOCATION_KILL;
}

/* Of a whole grant: it ends, and nobody gets it any more. */
static int store_grant_order(
	struct store *s, const struct revoke_order *order, int64_t *ret, struct error *err)
{
	const struct table *t = table_of(order->grant);
	AUTO(revoked) r = {.payload = NULL};
	int found = t->look(s, order->grant, &r, err);

	if (found > 0)
		return error_set(err, t->none, "there is no grant %s", quoted_string(order->grant));
	if (found < 0 || t->end(s, order->grant, clocks_now().realtime, err) < 0)
		return -1;
	int new = find_grant_order(s, order, ret, err);
	if (new < 0 || ((new > 0 || !r.before) && tell_ledger(s, &r, order, err) < 0))
		return -1;
	return new > 0 ? add(s, order, ret, err) : 0;
}

static void see_lease(void *data, const struct store_lease *l)
{
	(void)data;
	(void)l;
}

struct sought {
	const char *grant;
	bool found;
};

static void see_holding(void *data, const struct store_holding *h)
{
	struct sought *s = data;

	s->found = s->found || text_is(h->grant, s->grant);
}

static int store_lease_order(
	struct store *s, const struct revoke_order *order, int64_t *ret, struct error *err)
{
	struct sought sought = {order->grant, !order->grant[0]};
	int found = store_lease_show(s, order->lease, see_lease, NULL, err);

	if (found > 0)
		return error_set(err, ERROR_LEASE_NOT_FOUND, "there is no lease %s",
			quoted_string(order->lease));
	if (found < 0 || store_lease_holdings(s, order->lease, see_holding, &sought, err) < 0)
		return -1;
	if (!sought.found)
		return error_set(err, ERROR_GRANT_NOT_FOUND, "lease %s holds no grant %s",
			order->lease, quoted_string(order->grant));
	return add(s, order, ret, err);
}

int revoke_store(
	struct store *s, const struct revoke_order *order, int64_t *ret_number, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;

	if (query_begin(s, &t, err) < 0)
		return -1;
	int r = order->lease[0] ? store_lease_order(s, order, ret_number, err)
				: store_grant_order(s, order, ret_number, err);
	return r < 0 ? -1 : query_commit(&t, err);
}

struct of_secret {
	const char *name;
	struct strv grants;
};
static void of_secret_done(struct of_secret *o)
{
	strv_done(&o->grants);
}

static void collect(void *data, const struct store_grant *g)
{
	struct of_secret *o = data;
	auto_free char *id = mem_strndup(g->id.p, g->id.len);

	if (text_is(g->name, o->name) && g->revoked_at == 0)
		(void)!strv_add(&o->grants, id);
}

int revoke_store_secret(struct store *s, const char *name, const struct revoke_order *order,
	json_t *numbers, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	AUTO(of_secret) of = {name, STRV_INIT(GRANTS_MAX)};
	int64_t number = 0;

	if (query_begin(s, &t, err) < 0 || store_grant_list(s, collect, &of, err) < 0)
		return -1;
	strv_foreach (grant, &of.grants) {
		struct revoke_order one = *order;
		one.grant = *grant;
		one.lease = "";
		if (store_grant_order(s, &one, &number, err) < 0)
			return -1;
		json_array_append_new(numbers, json_integer(number));
	}
	return query_commit(&t, err);
}

/* ---- Later ---- */

static void see_due(void *data, const struct store_revocation *r)
{
	json_array_append_new(data, json_integer(r->number));
}

int revoke_is_due(struct store *s, bool *ret, struct error *err)
{
	auto_json *numbers = json_array();

	if (store_revocation_list_due(s, see_due, numbers, err) < 0)
		return -1;
	*ret = json_array_size(numbers) > 0;
	return 0;
}

static int carry_out_all(const struct revoke_ground *g, const json_t *numbers, struct error *err)
{
	size_t i;
	json_t *number;

	json_array_foreach(numbers, i, number)
	{
		auto_json *ignored = NULL;
		if (clock_boottime_ms() >= g->until)
			return 0;
		if (revoke_carry_out(g, json_integer_value(number), &ignored, err) < 0)
			return -1;
	}
	return 0;
}

/* Where there is nothing to do, no configuration is read. */
static int carry_out_due(
	struct revoke_ground *g, const char *config_path, const json_t *numbers, struct error *err)
{
	auto_error struct error unusable = ERROR_INIT;
	AUTO(context) context = {.home = HOME_INIT};

	if (json_array_size(numbers) == 0)
		return 0;
	if (config_path && context_open(g->home->path, config_path, &context, &unusable) == 0)
		g->executors = &context.executors;
	int r = carry_out_all(g, numbers, err);
	g->executors = NULL;
	return r;
}

static int due(const struct home *home, const char *config_path,
	const struct executor_list *executors, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	auto_json *numbers = json_array();

	int r = store_open_existing(home->path, &store, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	struct revoke_ground g = {home, store, executors, clock_boottime_ms() + DUE_MS};
	if (leases_sweep(home, store, true, err) < 0 ||
		store_revocation_list_due(store, see_due, numbers, err) < 0)
		return -1;
	return carry_out_due(&g, config_path, numbers, err);
}

static void try_due(
	const struct home *home, const char *config_path, const struct executor_list *executors)
{
	auto_error struct error err = ERROR_INIT;

	if (due(home, config_path, executors, &err) < 0)
		log_warning("revocations that are not finished: %s", err.message);
}

void revoke_due(const struct home *home, const char *config_path)
{
	try_due(home, config_path, NULL);
}

void revoke_due_on(const struct home *home, const struct executor_list *executors)
{
	try_due(home, NULL, executors);
}

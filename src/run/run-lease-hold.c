/* Who holds what, on record before the workload starts (disk-and-secrets.md §17). */
#include "base/json.h"
#include "run/egress-sessions.h"
#include "run/run-lease.h"
#include "store/audit.h"
#include "store/grant.h"
#include "store/lease.h"
#include "store/query.h"
#include "vault/clocks-now.h"
#include "vault/grant.h"
#include "vault/time-json.h"

struct look {
	const struct two_clocks *now;
	enum grant_state state;
};

static void look_at(void *data, const struct store_grant *g)
{
	struct look *l = data;

	l->state = grant_state(g, l->now);
}

/* Once more: an image may have been built since it was judged. */
static int judge_again(
	struct store *s, const char *grant, const struct two_clocks *now, struct error *err)
{
	struct look look = {now, GRANT_REVOKED};

	if (store_grant_show(s, grant, look_at, &look, err) < 0)
		return -1;
	if (look.state == GRANT_ACTIVE)
		return 0;
	return error_set(err, ERROR_GRANT_REVOKED, "grant %s %s while the run was prepared", grant,
		look.state == GRANT_EXPIRED ? "expired" : "was revoked");
}

static int hold_grant(
	struct store *s, const char *lease, const struct material_binding *b, struct error *err)
{
	auto_json *files = json_from_strings(b->files.v, b->files.n);
	auto_json *env_keys = json_from_strings(b->env_keys.v, b->env_keys.n);
	auto_free char *files_text = json_write(files);
	auto_free char *env_text = json_write(env_keys);
	struct store_holding h = {
		.lease = text_of(lease),
		.grant = text_of(b->grant),
		.kind = text_of(secret_kind_text(b->kind)),
		.files = text_of(files_text),
		.env_keys = text_of(env_text),
	};

	return store_lease_add_holding(s, &h, err);
}

/* The run's session, which a revocation of its grant has to reach. */
static int hold_egress(struct store *s, const struct run_lease *l, const char *handle,
	const struct two_clocks *now, struct error *err)
{
	struct egress_session *session = l->material.egress;
	struct egress_sessions_who who = {handle, l->project, l->executor};

	if (!session)
		return 0;
	struct store_holding h = {
		.lease = text_of(l->material.lease),
		.grant = text_of(session->grant.id),
		.kind = TEXT("egress"),
		.files = TEXT("[]"),
		.env_keys = TEXT("[]"),
	};
	return egress_sessions_open(s, session, &who, now, err) < 0
		       ? -1
		       : store_lease_add_holding(s, &h, err);
}

/* IDs of what the lease holds. */
static json_t *granted(const struct run_lease *l)
{
	json_t *list = json_copy(json_object_get(l->report, "granted"));

	if (!list)
		list = json_array();
	if (l->material.egress)
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s}", "grant", l->material.egress->grant.id,
				      "kind", "egress", "session", l->material.egress->id));
	return list;
}

static int audit(struct store *s, const struct run_lease *l, const char *handle, json_t *payload,
	struct error *err)
{
	auto_json *whole = payload;
	struct store_audit_event event = {
		.action = "lease.open", .entity = "lease", .actor = "system", .payload = whole};

	json_object_set_new(whole, "handle", json_string(handle));
	json_object_set_new(whole, "project", json_from_string(l->project));
	json_object_set_new(whole, "executor_id", json_from_string(l->executor));
	return store_audit_add(s, &event, err);
}

static int open_lease(
	struct store *s, const struct run_lease *l, const char *handle, struct error *err)
{
	const struct material *m = &l->material;
	struct two_clocks now = clocks_now();
	struct store_lease row = {
		.id = text_of(m->lease),
		.run = text_of(handle),
		.project = text_of(l->project),
		.executor = text_of(l->executor),
		.opened_at = now.realtime,
		.expires_at = m->expires_at,
		.hard_end = m->hard_end,
		.boot_id = now.boot_id,
		.boottime_ms = now.boottime_ms,
	};

	for (size_t i = 0; i < m->n_bindings; i++)
		if (judge_again(s, m->bindings[i].grant, &now, err) < 0)
			return -1;
	if (store_lease_add(s, &row, err) < 0)
		return -1;
	for (size_t i = 0; i < m->n_bindings; i++)
		if (hold_grant(s, m->lease, &m->bindings[i], err) < 0)
			return -1;
	if (hold_egress(s, l, handle, &now, err) < 0)
		return -1;
	return audit(s, l, handle,
		json_pack("{s:s, s:s, s:o, s:o, s:o}", "decision", "allow", "lease", m->lease,
			"grants", granted(l), "expires_at", time_json(m->expires_at), "hard_end",
			time_json(m->hard_end)),
		err);
}

static int put_denials(
	struct store *s, const struct run_lease *l, const char *handle, struct error *err)
{
	size_t i;
	json_t *denied;

	json_array_foreach(json_object_get(l->report, "denied"), i, denied)
	{
		json_t *payload = json_pack("{s:s}", "decision", "deny");
		json_object_update(payload, denied);
		if (audit(s, l, handle, payload, err) < 0)
			return -1;
	}
	return 0;
}

int run_lease_hold(void *data, const char *handle, struct error *err)
{
	const struct run_lease *l = data;
	AUTO_PTR(store) store = NULL;
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;

	if (store_open(l->home, &store, err) < 0 || query_begin(store, &t, err) < 0)
		return -1;
	if (l->material.lease[0] && open_lease(store, l, handle, err) < 0)
		return -1;
	if (put_denials(store, l, handle, err) < 0)
		return -1;
	return query_commit(&t, err);
}

#include "run/leases.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/strv.h"
#include "executor/rundir/record.h"
#include "run/egress-sessions.h"
#include "store/audit.h"
#include "store/lease.h"
#include "store/query.h"
#include "vault/clocks-now.h"
#include "vault/time-json.h"

enum { LISTS_MAX = 1 << 20 };

/* ---- Showing ---- */

static json_t *read_names(struct text t)
{
	auto_error struct error ignored = ERROR_INIT;
	json_t *list = json_read(t, LISTS_MAX, "names", ERROR_STORE_CORRUPT, &ignored);

	return list ? list : json_array();
}

static void add_holding(void *data, const struct store_holding *h)
{
	json_array_append_new(
		data, json_pack("{s:o, s:o, s:o, s:o, s:b}", "grant", json_from_bytes(h->grant),
			      "kind", json_from_bytes(h->kind), "files", read_names(h->files),
			      "env", read_names(h->env_keys), "taken_back", h->taken_back));
}

static void add_lease(void *data, const struct store_lease *l)
{
	json_array_append_new(
		data, json_pack("{s:o, s:o, s:o, s:o, s:[], s:o, s:o, s:o, s:s}", "id",
			      json_from_bytes(l->id), "run", json_from_bytes(l->run), "project",
			      json_from_bytes(l->project), "executor", json_from_bytes(l->executor),
			      "grants", "opened_at", time_json(l->opened_at), "expires_at",
			      time_json(l->expires_at), "hard_end", time_json(l->hard_end), "state",
			      store_lease_state_text(l->state)));
}

int leases_list(struct store *s, json_t *list, struct error *err)
{
	size_t i;
	json_t *lease;

	if (store_lease_list_open(s, 0, add_lease, list, err) < 0)
		return -1;
	json_array_foreach(list, i,
		lease) if (store_lease_holdings(s, json_get_string(lease, "id"), add_holding,
				   json_object_get(lease, "grants"), err) < 0) return -1;
	return 0;
}

/* ---- The end ---- */

struct ending {
	char *lease, *run;
	enum store_lease_state state;
};

static void ending_done(struct ending *e)
{
	free(e->lease);
	free(e->run);
}

/* Of a row: what is needed to end it. */
static void note_ending(void *data, const struct store_lease *l)
{
	struct ending *e = data;

	mem_set_string(&e->lease, NULL);
	mem_set_string(&e->run, NULL);
	e->lease = mem_strndup(l->id.p, l->id.len);
	e->run = mem_strndup(l->run.p, l->run.len);
	e->state = l->state;
}

/* In a transaction. */
static int end(
	struct store *s, const struct ending *e, enum store_lease_state state, struct error *err)
{
	auto_json *payload = json_pack("{s:s, s:s}", "lease", e->lease, "handle", e->run);
	struct store_audit_event event = {
		.action = state == STORE_LEASE_RELEASED ? "lease.release" : "lease.expire",
		.entity = "lease",
		.actor = "system",
		.payload = payload,
	};
	int r = store_lease_end(s, e->lease, state, err);

	if (r != 0)
		return r < 0 ? -1 : 0;
	return store_audit_add(s, &event, err);
}

int leases_release(struct store *s, const char *handle, struct error *err)
{
	AUTO(ending) e = {.lease = NULL};
	int r = store_lease_show_run(s, handle, note_ending, &e, err);

	if (r != 0 || e.state != STORE_LEASE_OPEN)
		return r < 0 ? -1 : 0;
	return egress_sessions_close(s, handle, "run_ended", err) < 0
		       ? -1
		       : end(s, &e, STORE_LEASE_RELEASED, err);
}

/* ---- Sweeping ---- */

static void collect(void *data, const struct store_lease *l)
{
	auto_free char *line = mem_strndup(l->run.p, l->run.len);

	(void)!strv_add(data, line);
}

/* Over, or not there any more: nobody will release it. */
static bool run_over(const struct home *home, const char *handle)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	int gone = rundir_look(home, handle, &run, &err);
	if (gone != 0)
		return gone > 0;
	auto_json *record = rundir_read(&run, RECORD_FILE, &err);
	return record && record_final(record);
}

int leases_sweep(const struct home *home, struct store *s, bool due_only, struct error *err)
{
	AUTO(strv) runs = STRV_INIT(LEASES_MAX);
	AUTO(strv) over = STRV_INIT(LEASES_MAX);
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	int64_t until = due_only ? clocks_now().realtime + 1 : 0;

	if (store_lease_list_open(s, until, collect, &runs, err) < 0)
		return -1;
	strv_foreach (run, &runs)
		if (run_over(home, *run))
			(void)!strv_add(&over, *run);
	if (over.n == 0)
		return 0;
	if (query_begin(s, &t, err) < 0)
		return -1;
	strv_foreach (run, &over)
		if (egress_sessions_settle(s, home, *run, "run_ended", err) < 0 ||
			leases_release(s, *run, err) < 0)
			return -1;
	return query_commit(&t, err);
}

/* Who may have a secret, who holds it, and what is taken back (disk-and-secrets.md §14-§18). */
#include "unit/sys/unit-dir.h"

#include "base/mem.h"
#include "store/grant.h"
#include "store/lease.h"
#include "store/query.h"
#include "store/revocation.h"
#include "store/store.h"

/* What the last row said. */
struct seen {
	size_t n;
	char id[64], state[32], run[32], revoked[32];
	int64_t expires_at, hard_end, revoked_at;
};

static void see_grant(void *data, const struct store_grant *g)
{
	struct seen *s = data;

	s->n++;
	snprintf(s->id, sizeof(s->id), "%.*s", (int)g->id.len, g->id.p);
	snprintf(s->state, sizeof(s->state), "%.*s", (int)g->state.len,
		g->state.p ? g->state.p : "");
	s->revoked_at = g->revoked_at;
}

static void see_lease(void *data, const struct store_lease *l)
{
	struct seen *s = data;

	s->n++;
	snprintf(s->id, sizeof(s->id), "%.*s", (int)l->id.len, l->id.p);
	snprintf(s->state, sizeof(s->state), "%s", store_lease_state_text(l->state));
	s->expires_at = l->expires_at;
	s->hard_end = l->hard_end;
}

static void see_holding(void *data, const struct store_holding *h)
{
	struct seen *s = data;

	s->n += h->taken_back;
}

static void see_run(void *data, const struct store_revocation_run *r)
{
	struct seen *s = data;

	s->n++;
	snprintf(s->run, sizeof(s->run), "%.*s", (int)r->run.len, r->run.p);
	snprintf(s->state, sizeof(s->state), "%.*s", (int)r->result.len, r->result.p);
}

static void see_revocation(void *data, const struct store_revocation *r)
{
	struct seen *s = data;

	s->n++;
	snprintf(s->state, sizeof(s->state), "%.*s", (int)r->state.len, r->state.p);
}

static void add_grant(struct store *s, const char *id, int64_t expires_at)
{
	auto_error struct error err = ERROR_INIT;
	struct store_grant g = {.id = text_of(id),
		.secret = TEXT("sec_1"),
		.name = TEXT("token"),
		.kind = TEXT("env"),
		.subject = TEXT("any"),
		.constraints = TEXT("{}"),
		.created_by = TEXT("me"),
		.boot_id = TEXT("boot"),
		.expires_at = expires_at};

	assert_done(store_grant_add(s, &g, &err), &err);
}

static void add_lease(struct store *s, const char *id, const char *run, const char *grant)
{
	auto_error struct error err = ERROR_INIT;
	struct store_lease l = {.id = text_of(id),
		.run = text_of(run),
		.project = TEXT("/p"),
		.executor = TEXT("container"),
		.boot_id = TEXT("boot"),
		.opened_at = 1,
		.expires_at = 1000,
		.hard_end = 5000};
	struct store_holding h = {.lease = l.id,
		.grant = text_of(grant),
		.kind = TEXT("env"),
		.files = TEXT("[]"),
		.env_keys = TEXT("[]")};

	assert_done(store_lease_add(s, &l, &err), &err);
	assert_done(store_lease_add_holding(s, &h, &err), &err);
}

static void test_grants(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	struct seen seen = {0};

	assert_done(store_open(path, &s, &err), &err);
	add_grant(s, "grant_a", 1000);
	add_grant(s, "grant_b", 9000);
	assert_int_equal(store_grant_show(s, "grant_c", see_grant, &seen, &err), 1);
	assert_done(store_grant_show(s, "grant_a", see_grant, &seen, &err), &err);
	assert_string_equal(seen.id, "grant_a");
	assert_int_equal(seen.revoked_at, 0);

	/* One that expired long ago is not judged any more; it stays in the list of all. */
	seen.n = 0;
	assert_done(store_grant_list_since(s, 1000, see_grant, &seen, &err), &err);
	assert_int_equal(seen.n, 1);
	assert_string_equal(seen.id, "grant_b");
	seen.n = 0;
	assert_done(store_grant_list(s, see_grant, &seen, &err), &err);
	assert_int_equal(seen.n, 2);

	/* Revoked once: the first time counts. */
	assert_done(store_grant_revoke(s, "grant_b", 2000, &err), &err);
	assert_done(store_grant_revoke(s, "grant_b", 3000, &err), &err);
	assert_done(store_grant_show(s, "grant_b", see_grant, &seen, &err), &err);
	assert_int_equal(seen.revoked_at, 2000);
	seen.n = 0;
	assert_done(store_grant_list_since(s, 1999, see_grant, &seen, &err), &err);
	assert_int_equal(seen.n, 1);
	seen.n = 0;
	assert_done(store_grant_list_since(s, 2000, see_grant, &seen, &err), &err);
	assert_int_equal(seen.n, 0);
}

static void test_leases(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	struct seen seen = {0};

	assert_done(store_open(path, &s, &err), &err);
	add_lease(s, "lease_a", "c-1", "grant_a");
	/* A run has one lease. */
	struct store_lease twice = {.id = TEXT("lease_b"),
		.run = TEXT("c-1"),
		.project = TEXT("/p"),
		.executor = TEXT("e"),
		.boot_id = TEXT("b")};
	assert_int_equal(store_lease_add(s, &twice, &err), -1);

	/* Never back, and the hard end is that of what is left. */
	assert_done(store_lease_extend(s, "lease_a", 1500, 5000, &err), &err);
	assert_done(store_lease_extend(s, "lease_a", 1200, 4000, &err), &err);
	assert_done(store_lease_show_run(s, "c-1", see_lease, &seen, &err), &err);
	assert_int_equal(seen.expires_at, 1500);
	assert_int_equal(seen.hard_end, 4000);

	seen.n = 0;
	assert_done(store_lease_list_open(s, 1500, see_lease, &seen, &err), &err);
	assert_int_equal(seen.n, 0);
	assert_done(store_lease_list_open(s, 1501, see_lease, &seen, &err), &err);
	assert_int_equal(seen.n, 1);

	assert_done(store_lease_end(s, "lease_a", STORE_LEASE_RELEASED, &err), &err);
	assert_int_equal(store_lease_end(s, "lease_a", STORE_LEASE_EXPIRED, &err), 1);
	assert_done(store_lease_show(s, "lease_a", see_lease, &seen, &err), &err);
	assert_string_equal(seen.state, "released");
	/* One that is over is not extended. */
	assert_done(store_lease_extend(s, "lease_a", 9000, 0, &err), &err);
	assert_done(store_lease_show(s, "lease_a", see_lease, &seen, &err), &err);
	assert_int_equal(seen.expires_at, 1500);
}

static void test_old_leases_go(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	struct seen seen = {0};

	assert_done(store_open(path, &s, &err), &err);
	assert_done(query_begin(s, &t, &err), &err);
	add_lease(s, "lease_live", "c-live", "grant_a");
	for (int i = 0; i < STORE_LEASES_KEPT + 2; i++) {
		auto_free char *id = mem_printf("lease_%d", i);
		auto_free char *run = mem_printf("c-%d", i);
		add_lease(s, id, run, "grant_a");
		assert_done(store_lease_end(s, id, STORE_LEASE_RELEASED, &err), &err);
	}
	assert_done(query_commit(&t, &err), &err);
	assert_int_equal(store_lease_show(s, "lease_0", see_lease, &seen, &err), 1);
	assert_int_equal(store_lease_show(s, "lease_1", see_lease, &seen, &err), 1);
	assert_done(store_lease_show(s, "lease_2", see_lease, &seen, &err), &err);
	assert_done(store_lease_show(s, "lease_live", see_lease, &seen, &err), &err);
}

static void ask(struct store *s, const char *lease, const char *grant, int64_t *ret)
{
	auto_error struct error err = ERROR_INIT;
	struct store_revocation r = {.lease = text_of(lease),
		.grant = text_of(grant),
		.action = TEXT("scrub"),
		.actor = TEXT("me"),
		.asked_at = 1};

	assert_done(store_revocation_add(s, &r, ret, &err), &err);
}

static void count_runs(struct store *s, int64_t number, struct seen *ret)
{
	auto_error struct error err = ERROR_INIT;

	*ret = (struct seen){0};
	assert_done(store_revocation_runs(s, number, see_run, ret, &err), &err);
}

static void test_revocations(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	struct seen seen = {0};
	int64_t number = 0, found = 0;

	assert_done(store_open(path, &s, &err), &err);
	add_grant(s, "grant_a", 9000);
	add_lease(s, "lease_a", "c-a", "grant_a");
	add_lease(s, "lease_b", "c-b", "grant_b");
	add_lease(s, "lease_c", "c-c", "grant_a");
	assert_done(store_lease_end(s, "lease_c", STORE_LEASE_RELEASED, &err), &err);

	/* Who holds the grant in an open lease, and nobody else. */
	ask(s, "", "grant_a", &number);
	count_runs(s, number, &seen);
	assert_int_equal(seen.n, 1);
	assert_string_equal(seen.run, "c-a");
	assert_string_equal(seen.state, "pending");
	assert_done(store_revocation_of_grant(s, "grant_a", &found, &err), &err);
	assert_int_equal(found, number);
	assert_int_equal(store_revocation_of_grant(s, "grant_b", &found, &err), 1);
	assert_done(store_grant_show(s, "grant_a", see_grant, &seen, &err), &err);
	assert_string_equal(seen.state, "revoke_pending");

	struct store_revocation_run answer = {.revocation = number,
		.run = TEXT("c-a"),
		.result = TEXT("unreachable"),
		.message = TEXT("nobody there")};
	assert_done(store_revocation_set_run(s, &answer, &err), &err);
	count_runs(s, number, &seen);
	assert_string_equal(seen.state, "unreachable");

	/* Due until it is revoked or failed. */
	seen.n = 0;
	assert_done(store_revocation_set_state(s, number, "unreachable", true, &err), &err);
	assert_done(store_revocation_list_due(s, see_revocation, &seen, &err), &err);
	assert_int_equal(seen.n, 1);
	assert_done(store_revocation_set_state(s, number, "revoked", true, &err), &err);
	seen.n = 0;
	assert_done(store_revocation_list_due(s, see_revocation, &seen, &err), &err);
	assert_int_equal(seen.n, 0);
	assert_done(store_revocation_show(s, number, see_revocation, &seen, &err), &err);
	assert_string_equal(seen.state, "revoked");

	/* One grant of one lease, then all of a lease. */
	ask(s, "lease_b", "grant_a", &number);
	count_runs(s, number, &seen);
	assert_int_equal(seen.n, 0);
	ask(s, "lease_b", "", &number);
	count_runs(s, number, &seen);
	assert_int_equal(seen.n, 1);
	assert_done(store_lease_take_back(s, "lease_b", "", &err), &err);
	seen.n = 0;
	assert_done(store_lease_holdings(s, "lease_b", see_holding, &seen, &err), &err);
	assert_int_equal(seen.n, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_DIR(test_grants),
		IN_DIR(test_leases),
		IN_DIR(test_old_leases_go),
		IN_DIR(test_revocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

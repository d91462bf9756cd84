/* A lease that lives on (disk-and-secrets.md §17). */
#include "unit/sys/unit-dir.h"

#include "base/json.h"
#include "run/leases.h"
#include "store/grant.h"
#include "store/lease.h"
#include "store/query.h"
#include "store/store.h"
#include "vault/clocks-now.h"

enum { HOUR = 3600, DAY = 86400 };

static void grant(struct store *s, const char *id, int64_t created_at, int64_t ttl)
{
	auto_error struct error err = ERROR_INIT;
	struct two_clocks now = clocks_now();
	struct store_grant g = {.id = text_of(id),
		.secret = TEXT("sec_1"),
		.name = TEXT("token"),
		.kind = TEXT("file"),
		.subject = TEXT("any"),
		.constraints = TEXT("{}"),
		.created_by = TEXT("me"),
		.boot_id = now.boot_id,
		.boottime_ms = now.boottime_ms,
		.created_at = created_at,
		.expires_at = created_at + ttl};

	assert_done(store_grant_add(s, &g, &err), &err);
}

static void hold(struct store *s, int64_t expires_at, const char *const *grants, size_t n)
{
	auto_error struct error err = ERROR_INIT;
	struct store_lease l = {.id = TEXT("lease_1"),
		.run = TEXT("c-1"),
		.project = TEXT("/p"),
		.executor = TEXT("container"),
		.boot_id = TEXT(""),
		.expires_at = expires_at,
		.hard_end = expires_at};

	assert_done(store_lease_add(s, &l, &err), &err);
	for (size_t i = 0; i < n; i++) {
		struct store_holding h = {.lease = l.id,
			.grant = text_of(grants[i]),
			.kind = TEXT("file"),
			.files = TEXT("[]"),
			.env_keys = TEXT("[]")};
		assert_done(store_lease_add_holding(s, &h, &err), &err);
	}
}

static void see(void *data, const struct store_lease *l)
{
	*(struct store_lease *)data =
		(struct store_lease){.expires_at = l->expires_at, .hard_end = l->hard_end};
}

static struct store_lease row(struct store *s)
{
	auto_error struct error err = ERROR_INIT;
	struct store_lease l = {.expires_at = 0};

	assert_done(store_lease_show(s, "lease_1", see, &l, &err), &err);
	return l;
}

static const char *result(const json_t *answer, size_t i)
{
	return json_get_string(json_array_get(json_object_get(answer, "grants"), i), "result");
}

static void test_answers(void **state)
{
	(void)state;
	static const char *const ids[] = {"grant_ok", "grant_over", "grant_revoked", "grant_gone"};
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	auto_json *first = NULL;
	auto_json *second = NULL;
	int64_t now = clocks_now().realtime;

	assert_done(store_open(path, &s, &err), &err);
	grant(s, "grant_ok", now, 2 * HOUR);
	grant(s, "grant_over", now - 2 * HOUR, HOUR);
	grant(s, "grant_revoked", now, HOUR);
	assert_done(store_grant_revoke(s, "grant_revoked", now, &err), &err);
	hold(s, now, ids, ARRAY_SIZE(ids));
	assert_done(leases_extend(s, "c-1", &first, &err), &err);
	assert_string_equal(result(first, 0), "ok");
	assert_string_equal(result(first, 1), "expired");
	assert_string_equal(result(first, 2), "revoked");
	assert_string_equal(result(first, 3), "revoked");
	assert_in_range(json_get_int(first, "expires_in_s", 0), 899, 900);
	assert_in_range(row(s).expires_at, now + 900, now + 901);
	assert_in_range(row(s).hard_end, now + 2 * HOUR, now + 2 * HOUR + 1);

	/* What expired stays that, and is on record once. */
	assert_done(leases_extend(s, "c-1", &second, &err), &err);
	assert_string_equal(result(second, 1), "expired");
	AUTO(query) q = QUERY_INIT;
	assert_done(query_prepare(s, "SELECT count(*) FROM audit WHERE action = 'lease.expire'", &q,
			    &err),
		&err);
	assert_int_equal(query_step(&q, &err), 1);
	assert_int_equal(query_int(&q, 0), 1);
}

static void test_bounds(void **state)
{
	(void)state;
	static const char *const ids[] = {"grant_short"};
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	auto_json *first = NULL;
	auto_json *ended = NULL;
	int64_t now = clocks_now().realtime;

	assert_done(store_open(path, &s, &err), &err);
	assert_int_equal(leases_extend(s, "c-1", &ended, &err), -1);
	assert_int_equal(err.code, ERROR_LEASE_NOT_FOUND);

	/* Never past the hard end. */
	grant(s, "grant_short", now, 100);
	hold(s, now, ids, 1);
	assert_done(leases_extend(s, "c-1", &first, &err), &err);
	assert_in_range(json_get_int(first, "expires_in_s", 0), 98, 100);
	assert_int_equal(row(s).expires_at, now + 100);
	assert_done(store_lease_end(s, "lease_1", STORE_LEASE_RELEASED, &err), &err);
	assert_int_equal(leases_extend(s, "c-1", &ended, &err), -1);
	assert_int_equal(err.code, ERROR_LEASE_NOT_FOUND);
}

/* The wall clock was a day ahead when it was minted: what is left is what was left then. */
static void test_clock_set_back(void **state)
{
	(void)state;
	static const char *const ids[] = {"grant_a"};
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	auto_json *answer = NULL;
	int64_t now = clocks_now().realtime;

	assert_done(store_open(path, &s, &err), &err);
	grant(s, "grant_a", now + DAY, 100);
	hold(s, now + DAY + 50, ids, 1);
	assert_done(leases_extend(s, "c-1", &answer, &err), &err);
	assert_string_equal(result(answer, 0), "ok");
	assert_in_range(json_get_int(answer, "expires_in_s", 0), 98, 100);
	assert_in_range(row(s).hard_end, now + 99, now + 101);
	assert_int_equal(row(s).expires_at, now + DAY + 50);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_DIR(test_answers),
		IN_DIR(test_bounds),
		IN_DIR(test_clock_set_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

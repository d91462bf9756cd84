/* Egress grants on record, and which of them a run holds (network.md §11). */
#include "unit/sys/unit-dir.h"

#include "base/json.h"
#include "run/egress-sessions.h"
#include "run/run-egress.h"
#include "store/query.h"
#include "store/store.h"
#include "vault/clocks-now.h"

enum { HOUR = 3600 };

static struct store *open_store(void)
{
	auto_error struct error err = ERROR_INIT;
	struct store *s = NULL;

	assert_done(store_open(path, &s, &err), &err);
	return s;
}

static void execute(const char *sql)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = open_store();

	assert_done(query_exec(s, sql, &err), &err);
}

/* Its ID, until the next call. */
static const char *grant(const char *subject, const char *scope)
{
	static char id[64];
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = open_store();
	struct two_clocks now = clocks_now();
	auto_json *made = NULL;
	auto_json *fields = json_pack("{s:s, s:s, s:[s, s], s:i}", "subject", subject, "scope",
		scope, "hosts", "B.Example", "a.example", "max_bytes_down", 65536);
	struct egress_grants_request r = {.fields = fields, .ttl = HOUR, .actor = "me"};

	assert_done(egress_grants_make(s, &r, &now, &made, &err), &err);
	assert_string_equal(json_get_string(made, "status"), "active");
	snprintf(id, sizeof(id), "%s", json_get_string(made, "id"));
	return id;
}

static size_t held(const char *project, const char *executor, struct run_egress *ret)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = open_store();
	struct request_label label = {TEXT("team"), TEXT("web")};
	struct run_lease_who who = {.home = path,
		.project = project,
		.executor = executor,
		.labels = &label,
		.n_labels = 1};

	assert_done(run_egress_find(s, &who, ret, &err), &err);
	return ret->n;
}

static size_t count_held(const char *project)
{
	AUTO(run_egress) e = RUN_EGRESS_INIT;

	return held(project, "container", &e);
}

static void test_policy_line(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	auto_json *list = json_array();
	struct egress_grants_filter all = {.all = true};
	struct two_clocks now = clocks_now();

	grant("any", "");
	s = open_store();
	assert_done(egress_grants_list(s, &all, &now, list, &err), &err);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(json_get_string(json_array_get(list, 0), "policy"),
		"hosts=a.example|b.example ports=80,443 methods=* down<=64k");
}

static void test_subjects(void **state)
{
	(void)state;
	static const struct {
		const char *subject;
		size_t here, there;
	} rows[] = {{"project:/srv/p", 1, 0}, {"project:/srv/p/", 1, 0}, {"project:/srv", 0, 0},
		{"executor:container", 1, 1}, {"executor:other", 0, 0}, {"label:team=web", 1, 1},
		{"label:team=db", 0, 0}, {"project:*", 1, 1}, {"executor:*", 1, 1}, {"any", 1, 1}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		grant(rows[i].subject, "");
		assert_int_equal(count_held("/srv/p"), rows[i].here);
		assert_int_equal(count_held("/srv/q"), rows[i].there);
		execute("DELETE FROM egress_grant");
	}
}

static void test_by_its_id_only(void **state)
{
	(void)state;
	AUTO(run_egress) e = RUN_EGRESS_INIT;
	char id[64];

	snprintf(id, sizeof(id), "%s", grant("any", "web"));
	assert_int_equal(held("/srv/p", "container", &e), 1);
	assert_non_null(run_egress_held(&e, id));
	assert_null(run_egress_held(&e, "web"));
	assert_null(run_egress_held(&e, ""));
	assert_null(run_egress_held(&e, NULL));
	id[10] = '\0';
	assert_null(run_egress_held(&e, id));
	assert_string_equal(e.facts[0].scope, "web");
}

/* None of these is held; the last is one whose policy was changed by somebody else. */
static void test_over(void **state)
{
	(void)state;
	static const char *const damage[] = {
		"UPDATE egress_grant SET revoked_at = 1",
		"UPDATE egress_grant SET expires_at = unixepoch()",
		/* The wall clock was set back by a day: it ages by the other one. */
		("UPDATE egress_grant SET created_at = created_at + 86400, "
		 "expires_at = expires_at + 86400, boottime_ms = boottime_ms - 3600001"),
		"UPDATE egress_grant SET policy = '{\"cidrs\": [\"169.254.0.0/16\"]}'",
		"UPDATE egress_grant SET policy = 'x'",
		"UPDATE egress_grant SET subject = 'all'",
	};

	for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
		grant("any", "");
		assert_int_equal(count_held("/srv/p"), 1);
		execute(damage[i]);
		assert_int_equal(count_held("/srv/p"), 0);
		execute("DELETE FROM egress_grant");
	}
}

/* How long a session of a run goes on from `now`; -1: no longer. */
static int64_t renewed(const struct two_clocks *now)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = open_store();
	auto_json *answer = NULL;

	assert_done(egress_sessions_renew(s, "run-1", now, &answer, &err), &err);
	return json_get_int(answer, "expires_in_s", -1);
}

static void open_session(const struct two_clocks *now)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(run_egress) e = RUN_EGRESS_INIT;
	struct egress_settings settings = {
		.max_session_minutes = 15, .dial_timeout_seconds = 15, .max_connections = 64};
	struct egress_sessions_who who = {"run-1", "/srv/p", "container"};
	char id[64];

	snprintf(id, sizeof(id), "%s", grant("any", ""));
	assert_int_equal(held("/srv/p", "container", &e), 1);
	assert_done(run_egress_make(&e, &settings, id, &err), &err);
	AUTO_PTR(store) s = open_store();
	assert_done(egress_sessions_open(s, &e.session, &who, now, &err), &err);
}

/* A wall clock that is set back neither shortens a session nor lets it outlive its grant. */
static void test_clock_set_back(void **state)
{
	(void)state;
	struct two_clocks begun = clocks_now(), now = begun;

	open_session(&begun);
	now.realtime += 600;
	now.boottime_ms += 600 * 1000;
	assert_int_equal(renewed(&now), 900);
	now.realtime -= 86400;
	assert_int_equal(renewed(&now), 900 + 86400);
	now.boottime_ms = begun.boottime_ms + (HOUR - 10) * 1000;
	assert_in_range(renewed(&now), 1, INT32_MAX);
	now.boottime_ms = begun.boottime_ms + (HOUR + 10) * 1000;
	assert_int_equal(renewed(&now), -1);
}

static void test_notes(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_grant) g = {.id = NULL};
	auto_json *object = json_pack("{s:s, s:s, s:[s, s, s, s], s:[s, s]}", "id",
		"egress_0123456789abcdef01234567", "subject", "any", "hosts", "10.1.2.3",
		"192.168.1.1", "9.9.9.9", "a.example", "cidrs", "10.0.0.0/8", "9.9.9.0/24");

	assert_done(egress_grant_read(object, &g, &err), &err);
	auto_json *notes = egress_grants_notes(&g);
	assert_int_equal(json_array_size(notes), 2);
	assert_non_null(strstr(json_string_value(json_array_get(notes, 0)), "10.0.0.0/8"));
	assert_non_null(strstr(json_string_value(json_array_get(notes, 1)), "192.168.1.1/32"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_policy_line),
		IN_DIR(test_subjects),
		IN_DIR(test_by_its_id_only),
		IN_DIR(test_over),
		IN_DIR(test_clock_set_back),
		IN_DIR(test_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

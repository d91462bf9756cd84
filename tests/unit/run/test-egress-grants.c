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
	int64_t left = json_get_int(answer, "expires_in_s", -1);
	if (left >= 0)
		assert_in_range(json_get_int(answer, "deadline_boottime_ms", 0),
			now->boottime_ms + left * 1000, now->boottime_ms + left * 1000 + 999);
	return left;
}

/* Of this run, or (NULL) as `egress test` has one; its ID, until the next call. */
static const char *open_session(const char *run, const struct two_clocks *now)
{
	static char session[64];
	auto_error struct error err = ERROR_INIT;
	AUTO(run_egress) e = RUN_EGRESS_INIT;
	struct egress_settings settings = {
		.max_session_minutes = 15, .dial_timeout_seconds = 15, .max_connections = 64};
	struct egress_sessions_who who = {run, "/srv/p", "container"};
	char id[64];

	snprintf(id, sizeof(id), "%s", grant("any", ""));
	assert_true(held("/srv/p", "container", &e) > 0);
	assert_done(run_egress_make(&e, &settings, id, &err), &err);
	snprintf(session, sizeof(session), "%s", e.session.id);
	who.run = run ? run : session;
	AUTO_PTR(store) s = open_store();
	assert_done(egress_sessions_open(s, &e.session, &who, now, &err), &err);
	return session;
}

static struct two_clocks after(const struct two_clocks *begun, int64_t uptime, int64_t step)
{
	return (struct two_clocks){begun->realtime + uptime + step,
		begun->boottime_ms + uptime * 1000, begun->boot_id};
}

static size_t renewals(void)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = open_store();
	AUTO(query) q = QUERY_INIT;

	assert_done(query_prepare(s, "SELECT count(*) FROM audit WHERE action = 'egress.renew'", &q,
			    &err),
		&err);
	assert_int_equal(query_step(&q, &err), 1);
	return (size_t)query_int(&q, 0);
}

/* Steps of the wall clock, while the window is 15 minutes and the grant holds for an hour. */
static void test_clock_steps(void **state)
{
	(void)state;
	static const int64_t steps[] = {0, -86400, -1000, 0, 1000, -100000000, 900};
	struct two_clocks begun = clocks_now();

	open_session("run-1", &begun);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		int64_t uptime = 250 * ((int64_t)i + 1);
		struct two_clocks now = after(&begun, uptime, steps[i]);
		assert_int_equal(renewed(&now), 900);
		assert_int_equal(renewals(), i + 1);
		/* At once again: nothing moves, nothing is told. */
		assert_int_equal(renewed(&now), 900);
		assert_int_equal(renewals(), i + 1);
	}
	/* Nobody asked for longer than its window: no wall clock brings it back. */
	struct two_clocks late = after(&begun, 250 * (int64_t)ARRAY_SIZE(steps) + 901, -86400);
	assert_int_equal(renewed(&late), -1);
	late.realtime = begun.realtime;
	assert_int_equal(renewed(&late), -1);
}

/* The grant's end is an instant of the wall clock, which ages by boottime as well. */
static void test_clock_steps_and_the_grant(void **state)
{
	(void)state;
	enum { SLACK = 10 }; /* the grant is made some moments after `begun` */
	struct two_clocks begun = clocks_now(), now;

	open_session("run-1", &begun);
	for (int64_t uptime = 600; uptime < HOUR; uptime += 600) {
		int64_t left = HOUR - uptime < 900 ? HOUR - uptime : 900;
		now = after(&begun, uptime, -86400);
		assert_in_range(renewed(&now), left, left + SLACK);
	}
	now = after(&begun, HOUR - SLACK, 0);
	assert_in_range(renewed(&now), SLACK, 2 * SLACK);
	now = after(&begun, HOUR - SLACK, 3 * SLACK);
	assert_int_equal(renewed(&now), -1);
	now = after(&begun, HOUR + SLACK, -86400);
	assert_int_equal(renewed(&now), -1);
}

static void test_another_boot(void **state)
{
	(void)state;
	struct two_clocks begun = clocks_now();
	struct two_clocks now = {begun.realtime + 600, 1000, TEXT("another")};

	open_session("run-1", &begun);
	assert_int_equal(renewed(&now), 900);
	now.realtime += 899;
	assert_int_equal(renewed(&now), 900);
	now.realtime += 900;
	assert_int_equal(renewed(&now), -1);
}

static const char *state_of(struct store *s, const char *run)
{
	static char found[32];
	auto_error struct error err = ERROR_INIT;
	AUTO(query) q = QUERY_INIT;

	assert_done(query_prepare(s, "SELECT state || reason FROM egress_session WHERE run = ?", &q,
			    &err),
		&err);
	query_bind_text(&q, text_of(run));
	assert_int_equal(query_step(&q, &err), 1);
	snprintf(found, sizeof(found), "%s", query_text(&q, 0).p);
	return found;
}

/* A session that is over and no run's: that of a run is its supervisor's to end. */
static void test_killed_test(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct two_clocks now = clocks_now();
	const char *lost;

	open_session("run-1", &now);
	lost = open_session(NULL, &now);
	AUTO_PTR(store) s = open_store();
	assert_done(egress_sessions_close_lost_tests(s, &now, &err), &err);
	assert_string_equal(state_of(s, lost), "open");
	now.realtime += HOUR;
	assert_done(egress_sessions_close_lost_tests(s, &now, &err), &err);
	assert_string_equal(state_of(s, lost), "closedexpired");
	assert_string_equal(state_of(s, "run-1"), "open");
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
		IN_DIR(test_clock_steps),
		IN_DIR(test_clock_steps_and_the_grant),
		IN_DIR(test_another_boot),
		IN_DIR(test_killed_test),
		IN_DIR(test_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* request.json and the launch block keep every byte on their way to the supervisor. */
#include "unit/unit.h"

#include "executor/container/launch.h"
#include "executor/container/plan.h"

#define ODD "a\xff\xfe\"\\\n\t\x01 \xc3\xbc\xf0\x9f\x8e\x89"

static void fill(struct plan *p)
{
	char **strings[] = {&p->handle, &p->executor_id, &p->project, &p->container_name, &p->image,
		&p->guest, &p->hosts};
	struct strv *lists[] = {
		&p->engine_argv, &p->client_env, &p->command, &p->volumes, &p->absent, &p->redact};

	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++)
		*strings[i] = strdup(ODD);
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		strv_add(lists[i], "");
		strv_add(lists[i], ODD);
		strv_add(lists[i], "plain");
	}
	p->uid = 4294967294;
	p->gid = 7;
	p->runtime.path = strdup("/usr/bin/" ODD);
	p->runtime.engine = ENGINE_DOCKER;
	p->runtime.endpoint = strdup("unix:///" ODD);
	p->asked = (struct argv_limits){.cpu_millis = 1, .memory_mb = 1 << 20, .pids = -1};
	p->timeout_ms = INT64_MAX;
	p->log_max_mb = 4096;
}

static void same_list(const struct strv *a, const struct strv *b)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++)
		assert_string_equal(a->v[i], b->v[i]);
}

static void test_plan_round_trip(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(plan) p = PLAN_INIT;
	AUTO(plan) q = PLAN_INIT;

	(void)state;
	fill(&p);
	for (int kind = 0; kind < PLAN_MOUNT_KIND_COUNT; kind++)
		assert_int_equal(
			plan_add_mount(&p, (enum plan_mount_kind)kind, ODD, "/t" ODD, kind % 2), 0);
	auto_json *out = plan_to_json(&p);
	auto_free char *text = json_write(out);
	auto_json *in = json_read(text_of(text), 1 << 20, "plan", ERROR_IO, &err);
	assert_done(plan_from_json(in, &q, &err), &err);
	assert_string_equal(q.handle, ODD);
	assert_string_equal(q.hosts, ODD);
	assert_string_equal(q.runtime.endpoint, "unix:///" ODD);
	assert_int_equal(q.runtime.engine, ENGINE_DOCKER);
	same_list(&p.engine_argv, &q.engine_argv);
	same_list(&p.redact, &q.redact);
	assert_true(q.uid == 4294967294 && q.gid == 7 && q.timeout_ms == INT64_MAX);
	assert_true(q.asked.pids == -1 && q.asked.memory_mb == 1 << 20);
	assert_int_equal(q.n_mounts, PLAN_MOUNT_KIND_COUNT);
	for (size_t i = 0; i < q.n_mounts; i++) {
		assert_int_equal(q.mounts[i].kind, i);
		assert_string_equal(q.mounts[i].source, ODD);
		assert_int_equal(q.mounts[i].read_only, i % 2);
	}
}

static void test_mounts_are_bounded(void **state)
{
	AUTO(plan) p = PLAN_INIT;

	(void)state;
	for (size_t i = 0; i < PLAN_MOUNTS_MAX; i++)
		assert_int_equal(plan_add_mount(&p, PLAN_MOUNT_GIVEN, "/s", "/t", true), 0);
	assert_int_equal(plan_add_mount(&p, PLAN_MOUNT_GIVEN, "/s", "/t", true), -1);
}

/* A request without any one of its members is refused, with the member's name. */
static void test_missing_member(void **state)
{
	static const char *const needed[] = {"handle", "image", "guest", "engine_argv",
		"client_env", "redact", "runtime", "mounts"};
	AUTO(plan) p = PLAN_INIT;

	(void)state;
	fill(&p);
	assert_int_equal(plan_add_mount(&p, PLAN_MOUNT_GIVEN, "/s", "/t", true), 0);
	auto_json *whole = plan_to_json(&p);
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(plan) q = PLAN_INIT;
		auto_json *less = json_deep_copy(whole);
		json_object_del(less, needed[i]);
		assert_int_equal(plan_from_json(less, &q, &err), -1);
		assert_non_null(strstr(err.message, needed[i]));
	}
}

static void test_launch_round_trip(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(launch) l = LAUNCH_INIT;
	AUTO(launch) m = LAUNCH_INIT;
	AUTO(launch) none = LAUNCH_INIT;

	(void)state;
	strv_add(&l.run_env, "A=" ODD);
	strv_add(&l.expected, "B=");
	strv_add(&l.expected, "C=" ODD);
	l.env_file = strdup("X=" ODD);
	auto_json *out = launch_to_json(&l);
	auto_free char *text = json_write(out);
	auto_json *in = json_read(text_of(text), 1 << 20, "launch", ERROR_IO, &err);
	assert_done(launch_from_json(in, &m, &err), &err);
	same_list(&l.run_env, &m.run_env);
	same_list(&l.expected, &m.expected);
	assert_string_equal(m.env_file, "X=" ODD);
	json_object_set_new(in, "env_file", json_null());
	assert_done(launch_from_json(in, &none, &err), &err);
	assert_null(none.env_file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan_round_trip),
		cmocka_unit_test(test_mounts_are_bounded),
		cmocka_unit_test(test_missing_member),
		cmocka_unit_test(test_launch_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

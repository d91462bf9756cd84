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
	p->standalone = p->virtualized = true;
	p->gid = 7;
	p->runtime.path = strdup("/usr/bin/" ODD);
	p->runtime.engine = ENGINE_DOCKER;
	p->runtime.endpoint = strdup("unix:///" ODD);
	p->asked = (struct argv_limits){.cpu_millis = 1, .memory_mb = 1 << 20, .pids = -1};
	p->timeout_ms = INT64_MAX;
	p->log_max_mb = 4096;
}

static void fill_lease(struct plan_lease *l)
{
	l->id = strdup("lease_1");
	l->dir = strdup("/run/cloop/" ODD);
	l->stage = strdup("/dev/shm/" ODD);
	l->expires_at = INT64_MAX;
	l->hard_end = 5;
	assert_int_equal(plan_lease_add_file(l, ODD, 0400), 0);
	assert_int_equal(plan_lease_add_file(l, "b", 0700), 0);
	struct plan_binding *b = plan_lease_add_binding(l, "grant_1", "file");
	strv_add(&b->files, ODD);
	assert_non_null(plan_lease_add_binding(l, "grant_2", "env"));
	strv_add(&l->bindings[1].env_keys, "KEY");
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
	fill_lease(&p.lease);
	auto_json *out = plan_to_json(&p);
	auto_free char *text = json_write(out);
	auto_json *in = json_read(text_of(text), 1 << 20, "plan", ERROR_IO, &err);
	assert_done(plan_from_json(in, &q, &err), &err);
	auto_json *again = plan_to_json(&q);
	assert_true(json_equal(out, again));
	assert_string_equal(q.lease.files[0].name, ODD);
	assert_int_equal(q.lease.files[0].mode, 0400);
	assert_string_equal(q.lease.bindings[1].env_keys.v[0], "KEY");
	assert_string_equal(q.handle, ODD);
	assert_string_equal(q.hosts, ODD);
	assert_string_equal(q.runtime.endpoint, "unix:///" ODD);
	assert_int_equal(q.runtime.engine, ENGINE_DOCKER);
	same_list(&p.engine_argv, &q.engine_argv);
	same_list(&p.redact, &q.redact);
	assert_true(q.standalone && q.virtualized);
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

/* A lease that is none, and members of one that do not fit together. */
static void test_lease_is_strict(void **state)
{
	static const char *const bad[] = {"{}", "[]", "{\"id\":\"l\"}",
		"{\"id\":\"l\",\"dir\":\"/d\",\"files\":[],\"bindings\":[]}",
		"{\"id\":\"l\",\"files\":[{\"name\":\"a\",\"mode\":384}],\"bindings\":[]}",
		("{\"id\":\"l\",\"dir\":\"/d\",\"stage\":\"/s\","
		 "\"files\":[{\"name\":\"a\",\"mode\":512}],\"bindings\":[]}"),
		("{\"id\":\"l\",\"files\":[],\"bindings\":"
		 "[{\"grant\":\"g\",\"kind\":\"env\",\"files\":[]}]}")};
	struct plan_lease none = {.id = NULL};

	(void)state;
	assert_int_equal(plan_lease_from_json(NULL, &none), 0);
	assert_null(none.id);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(plan_lease) l = {.id = NULL};
		auto_json *j = json_read(text_of(bad[i]), 4096, "lease", ERROR_IO, &err);
		assert_non_null(j);
		if (plan_lease_from_json(j, &l) == 0)
			fail_msg("taken: %s", bad[i]);
	}
}

static void test_launch_round_trip(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(launch) l = LAUNCH_INIT;
	AUTO(launch) m = LAUNCH_INIT;
	AUTO(launch) none = LAUNCH_INIT;
	struct secret block;

	(void)state;
	assert_int_equal(launch_add(&l.run_env, "A=" ODD), 0);
	assert_int_equal(launch_add(&l.expected, "B="), 0);
	assert_int_equal(launch_add(&l.expected, "C=" ODD), 0);
	l.env_file = "X=" ODD;
	l.file_sizes[l.n_files++] = 0;
	l.file_sizes[l.n_files++] = 262144;
	l.egress_token = TEXT("token");
	l.egress_deadline_ms = INT64_MAX;
	launch_write(&l, &block);
	assert_done(launch_read(&block, &m, &err), &err);
	assert_null(block.p);
	same_list(&l.run_env, &m.run_env);
	same_list(&l.expected, &m.expected);
	assert_string_equal(m.env_file, "X=" ODD);
	assert_int_equal(m.n_files, 2);
	assert_int_equal(m.file_sizes[1], 262144);
	assert_true(text_is(m.egress_token, "token"));
	assert_true(m.egress_deadline_ms == INT64_MAX);
	launch_replace(&m, &m.env_file, "X", TEXT("longer"));
	assert_string_equal(m.env_file, "longer=" ODD);
	launch_replace(&m, &m.expected.v[0], "X", TEXT("y"));
	assert_string_equal(m.expected.v[0], "B=");
	launch_write(&none, &block);
	launch_done(&none);
	assert_done(launch_read(&block, &none, &err), &err);
	assert_null(none.env_file);
	assert_null(none.egress_token.p);
	assert_int_equal(none.run_env.n + none.expected.n + none.n_files, 0);
}

static void test_launch_is_strict(void **state)
{
	const struct text bad[] = {TEXT("rA=1"), TEXT("rA=1\0x"), TEXT("\0"), TEXT("zA\0"),
		TEXT("s\0"), TEXT("s-1\0"), TEXT("s1x\0"), TEXT("d9223372036854775808\0")};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(launch) l = LAUNCH_INIT;
		AUTO(secret) block = {.p = NULL};
		SECRET_CONCAT(&block, bad[i]);
		if (launch_read(&block, &l, &err) == 0)
			fail_msg("taken: %zu", i);
	}
}

static void test_launch_is_bounded(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(launch) l = LAUNCH_INIT;
	AUTO(launch) m = LAUNCH_INIT;
	AUTO(secret) block = {.p = NULL};
	AUTO(secret) more = {.p = NULL};

	(void)state;
	for (size_t i = 0; i < LAUNCH_WORDS_MAX; i++)
		assert_int_equal(launch_add(&l.run_env, "A=1"), 0);
	assert_int_equal(launch_add(&l.run_env, "A=1"), -1);
	launch_write(&l, &block);
	SECRET_CONCAT(&more, secret_text(&block), TEXT("rA=1\0"));
	assert_int_equal(launch_read(&more, &m, &err), -1);
	assert_true(error_is(&err, ERROR_IO));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan_round_trip),
		cmocka_unit_test(test_mounts_are_bounded),
		cmocka_unit_test(test_missing_member),
		cmocka_unit_test(test_lease_is_strict),
		cmocka_unit_test(test_launch_round_trip),
		cmocka_unit_test(test_launch_is_strict),
		cmocka_unit_test(test_launch_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

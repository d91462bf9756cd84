#include "unit/unit.h"

#include <string.h>

#include "base/json.h"
#include "executor/rundir/record.h"
#include "run/task-end.h"

#define HANDLE "c-0123456789ab"
#define CLAIM "00112233445566778899aabbccddeeff"
#define SHA "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* A good record; `changes` are put over it. */
static json_t *make(const char *changes)
{
	auto_error struct error err = ERROR_INIT;
	struct record_facts facts = {.handle = HANDLE,
		.project = "/srv/p",
		.task_id = 7,
		.image = "busybox",
		.sandbox_sha256 = SHA};
	json_t *record = record_new(&facts);

	record_set_state(record, "exited");
	json_object_set_new(record, "outcome", json_string("ok"));
	json_object_set_new(record, "exit_code", json_integer(0));
	json_object_set_new(record_supervision(record), "task_claim", json_string(CLAIM));
	auto_json *more = json_read(text_of(changes), 10000, "changes", ERROR_IO, &err);
	assert_non_null(more);
	json_object_update_recursive(record, more);
	return record;
}

static int take(const json_t *record, struct final_record *ret)
{
	auto_error struct error err = ERROR_INIT;

	return final_record_read(HANDLE, record, ret, &err);
}

static void test_good(void **state)
{
	(void)state;
	AUTO(final_record) f = {.project = NULL};
	auto_json *record = make("{\"started_at\": \"2026-01-02T03:04:05Z\"}");

	assert_int_equal(take(record, &f), 0);
	assert_string_equal(f.project, "/srv/p");
	assert_true(text_is(f.row.image, "busybox") && text_is(f.row.sandbox_sha256, SHA));
	assert_true(text_is(f.row.started_at, "2026-01-02T03:04:05Z") && !f.row.finished_at.p);
	assert_true(f.row.task == 7 && f.row.exit_code == 0 && f.row.signal == -1);
	assert_string_equal(f.claim, CLAIM);
}

/* The project's bytes, where the record's member had to escape them. */
static void test_exact_project(void **state)
{
	(void)state;
	AUTO(final_record) f = {.project = NULL};
	auto_json *record = make("{\"project\": \"/srv/\\\\xff\", "
				 "\"supervision\": {\"project\": {\"hex\": \"2f7372762fff\"}}}");

	assert_int_equal(take(record, &f), 0);
	assert_string_equal(f.project, "/srv/\xff");
}

static void test_not_final(void **state)
{
	(void)state;
	AUTO(final_record) f = {.project = NULL};
	auto_json *record = make("{\"state\": \"running\"}");

	assert_int_equal(take(record, &f), FINAL_RECORD_NOT_FINAL);
}

static void test_refused(void **state)
{
	(void)state;
	static const char *const changes[] = {
		"{\"handle\": \"c-ffffffffffff\"}",
		"{\"handle\": null}",
		"{\"outcome\": null}",
		"{\"outcome\": \"OK\"}",
		"{\"outcome\": 0}",
		"{\"project\": null}",
		"{\"project\": \"srv/p\"}",
		"{\"project\": \"/a\\u0000b\"}",
		"{\"project\": [], \"supervision\": {\"project\": \"p\"}}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		AUTO(final_record) f = {.project = NULL};
		auto_json *record = make(changes[i]);
		assert_int_equal(take(record, &f), -1);
	}
	auto_json *list = json_array();
	struct final_record none;
	assert_int_equal(take(list, &none), -1);
}

/* A member that is not of its form is left out. */
static void test_left_out(void **state)
{
	(void)state;
	static const char changes[] =
		"{\"exit_code\": 256, \"signal\": 65, \"title\": \"a\\u0000\", \"image\": {}, "
		"\"sandbox_sha256\": \"AA\", \"started_at\": \"now\", \"task_id\": -7, "
		"\"usage\": 7, \"breach\": {\"limit_mb\": 5}, \"supervision\": {\"task_claim\": "
		"\"x\", "
		"\"cli_exit\": -1}, \"finished_at\": 12}";
	AUTO(final_record) f = {.project = NULL};
	auto_json *record = make(changes);

	assert_int_equal(take(record, &f), 0);
	const struct store_run *r = &f.row;
	assert_true(r->exit_code == -1 && r->signal == -1 && r->cli_exit == -1 && r->task == 0);
	assert_true(r->wall_ms == -1 && r->disk_limit_mb == -1 && !f.claim);
	assert_true(!r->title.p && !r->image.p && !r->sandbox_sha256.p && !r->started_at.p &&
		    !r->finished_at.p);
}

static void test_task_ends(void **state)
{
	(void)state;
	static const struct {
		const char *changes;
		enum store_task_state state;
		const char *note; /* begins with */
	} ends[] = {
		{"{}", STORE_TASK_DONE, NULL},
		{"{\"outcome\": \"nonzero\", \"exit_code\": 3}", STORE_TASK_FAILED,
			"it ended with status 3"},
		{"{\"outcome\": \"signal\", \"signal\": 9}", STORE_TASK_FAILED,
			"it was ended by signal 9"},
		{"{\"outcome\": \"timeout\"}", STORE_TASK_FAILED, "it ran out of time"},
		{"{\"outcome\": \"oom\"}", STORE_TASK_FAILED, "it ran out of memory"},
		{"{\"outcome\": \"revoked\"}", STORE_TASK_FAILED, "a credential"},
		{"{\"outcome\": \"cancelled\"}", STORE_TASK_FAILED, "it was stopped"},
		{"{\"outcome\": \"lost\", \"error\": \"gone\"}", STORE_TASK_FAILED,
			"its run was lost; how far it came is not known: gone"},
		{"{\"outcome\": \"disk_limit\", \"usage\": {\"disk_used_mb\": 73}, \"breach\": "
		 "{\"limit_mb\": 64}}",
			STORE_TASK_PENDING,
			"stopped at its disk limit: the workspace held 73 MB, 64 MB are allowed"},
		{"{\"outcome\": \"disk_limit\"}", STORE_TASK_PENDING, "stopped at its disk limit"},
		{"{\"outcome\": \"cancelled\", \"code\": \"disk_low\"}", STORE_TASK_PENDING, "it"},
		{"{\"outcome\": \"start_failed\", \"code\": \"start_cancelled\", \"error\": \"x\"}",
			STORE_TASK_PENDING, "it did not start: x"},
		{"{\"outcome\": \"start_failed\", \"code\": \"command_not_found\"}",
			STORE_TASK_FAILED, "it did not start"},
		{"{\"outcome\": \"start_failed\", \"code\": \"command_not_executable\"}",
			STORE_TASK_FAILED, "it did not start"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		AUTO(final_record) f = {.project = NULL};
		AUTO(task_end) end;
		auto_json *record = make(ends[i].changes);
		assert_int_equal(take(record, &f), 0);
		task_end_judge(&f, &end);
		assert_int_equal(end.state, ends[i].state);
		assert_int_equal(end.note == NULL, ends[i].note == NULL);
		if (end.note)
			assert_memory_equal(end.note, ends[i].note, strlen(ends[i].note));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_exact_project),
		cmocka_unit_test(test_not_final),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_task_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

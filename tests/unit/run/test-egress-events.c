/* What a run's proxy told, into the audit trail exactly once (network.md §12.4). */
#include "unit/sys/unit-dir.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/mem.h"
#include "egress/session.h"
#include "executor/rundir/record.h"
#include "run/egress-events.h"
#include "run/egress-sessions.h"
#include "run/import.h"
#include "store/audit.h"
#include "store/query.h"
#include "store/store.h"
#include "sys/fault.h"

#define GRANT "egress_aaaaaaaaaaaaaaaaaaaaaaaa"
#define SESSION "sess_aaaaaaaaaaaaaaaaaaaaaaaa"
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

/* ---- A run with a session ---- */

static struct home home;
static struct rundir run;

static int64_t number(const char *sql)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	AUTO(query) q = QUERY_INIT;

	assert_done(store_open(path, &s, &err), &err);
	assert_done(query_prepare(s, sql, &q, &err), &err);
	assert_int_equal(query_step(&q, &err), 1);
	return query_int(&q, 0);
}

static void put_session(void)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	struct store_egress_session e = {.id = TEXT(SESSION),
		.grant = TEXT(GRANT),
		.token_sha256 = TEXT(ZEROS),
		.run = text_of(run.handle),
		.project = TEXT("/p"),
		.executor = TEXT("container"),
		.subject = TEXT("any"),
		.policy = TEXT("{}"),
		.opened_at = 1,
		.deadline = 901,
		.boot_id = TEXT("boot")};

	assert_done(store_open(path, &s, &err), &err);
	assert_done(query_exec(s,
			    "INSERT INTO egress_grant (id, subject, scope, policy, created_by, "
			    "created_at, expires_at, boot_id, boottime_ms) VALUES ('" GRANT
			    "', 'any', '', '{}', 'me', 1, 2, '', 0)",
			    &err),
		&err);
	assert_done(store_egress_session_add(s, &e, &err), &err);
}

static int setup(void **state)
{
	auto_error struct error err = ERROR_INIT;

	if (dir_setup(state) < 0)
		return -1;
	home = HOME_INIT;
	run = RUNDIR_INIT;
	assert_done(home_open(path, &home, &err), &err);
	assert_done(rundir_create(&home, &run, &err), &err);
	put_session();
	return 0;
}

static int teardown(void **state)
{
	rundir_done(&run);
	home_done(&home);
	return dir_teardown(state);
}

#define WITH_RUN(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* ---- Its events ---- */

static void tell(const char *bytes)
{
	auto_error struct error err = ERROR_INIT;
	auto_fd int fd = openat(run.fd, EGRESS_EVENTS_FILE, O_WRONLY | O_CREAT | O_APPEND, 0600);

	assert_done(file_write_all(fd, bytes, strlen(bytes), &err), &err);
}

static char *request(unsigned n)
{
	return mem_printf("{\"action\":\"egress.request\",\"decision\":\"allow\",\"actor\":"
			  "\"cloop-egress\",\"session\":\"another\",\"host\":\"h%u\"}\n",
		n);
}

static void tell_requests(unsigned from, unsigned to)
{
	for (unsigned n = from; n < to; n++) {
		auto_free char *line = request(n);
		tell(line);
	}
}

static int import(void)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;

	return store_open(path, &s, &err) < 0 ? -1
					      : egress_events_import(s, &home, run.handle, &err);
}

/* Requests h0 to h<n-1> are rows, each once and in this order, and nothing else was told. */
static void check_rows(unsigned n)
{
	auto_free char *order =
		mem_printf("SELECT count(*) FROM (SELECT payload, row_number() OVER (ORDER BY seq) "
			   "- 1 AS place FROM audit WHERE action = 'egress.request') WHERE "
			   "json_extract(payload, '$.host') = 'h' || place AND "
			   "json_extract(payload, '$.session') = '" SESSION "'");

	assert_int_equal(number("SELECT count(*) FROM audit WHERE action = 'egress.request'"), n);
	assert_int_equal(number(order), n);
}

static void check_chain(void)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	struct store_audit_check check;

	assert_done(store_open(path, &s, &err), &err);
	assert_done(store_audit_verify(s, &check, &err), &err);
	assert_int_equal(check.bad_seq, 0);
}

static json_t *final_record(void)
{
	struct record_facts facts = {.executor_id = "container", .project = "/p"};
	json_t *record = record_new(&facts);

	json_object_set_new(record, "handle", json_string(run.handle));
	json_object_set_new(record, "outcome", json_string("ok"));
	json_object_set_new(record, "egress",
		json_pack("{s:s, s:s, s:i, s:i, s:s}", "session", SESSION, "grant", GRANT,
			"bytes_up", 3, "bytes_down", 4, "reason", "run_ended"));
	record_set_state(record, "exited");
	return record;
}

/* ---- Tests ---- */

/* An import by another process, armed: true = it was killed at the point. */
static bool killed_at(const char *point)
{
	int status;

	pid_t pid = fork();
	if (pid == 0) {
		fault_arm(point);
		_exit(import() == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static void test_as_it_comes(void **state)
{
	(void)state;
	assert_int_equal(import(), 0);
	tell_requests(0, 3);
	assert_int_equal(import(), 0);
	check_rows(3);
	assert_int_equal(import(), 0);
	check_rows(3);
	tell_requests(3, 5);
	assert_int_equal(import(), 0);
	check_rows(5);
	assert_int_equal(number("SELECT count(*) FROM egress_session WHERE state = 'open'"), 1);
	check_chain();
}

/* In several transactions, one of which is the last for who is killed. */
static void test_a_long_file(void **state)
{
	(void)state;
	enum { LINES = 1100 };

	tell_requests(0, LINES);
	assert_true(killed_at("events:rows:2=kill"));
	assert_in_range(
		number("SELECT count(*) FROM audit WHERE action = 'egress.request'"), 1, LINES - 1);
	assert_int_equal(import(), 0);
	check_rows(LINES);
	check_chain();
}

/* A line counts when its end is there; what is none is passed over. */
static void test_a_line_that_is_not_whole(void **state)
{
	(void)state;
	auto_free char *line = request(0);
	auto_free char *begin = mem_strndup(line, 20);

	tell(begin);
	assert_int_equal(import(), 0);
	check_rows(0);
	tell(line + 20);
	tell("no JSON\n{\"action\":\"egress.grant\"}\n\n{\"action\":\"egress.request\"");
	assert_int_equal(import(), 0);
	check_rows(1);
	tell("\n");
	tell_requests(1, 2);
	assert_int_equal(import(), 0);
	check_rows(2);
	assert_int_equal(number("SELECT count(*) FROM audit"), 2);
}

static void test_unknown_and_gone(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;

	assert_done(store_open(path, &s, &err), &err);
	assert_int_equal(egress_events_import(s, &home, "c-0123456789ab", &err), 1);
	tell_requests(0, 1);
	assert_done(rundir_remove(&home, run.handle, &err), &err);
	assert_done(egress_events_import(s, &home, run.handle, &err), &err);
	egress_events_import_live(s, &home);
	check_rows(0);
}

/* The final record takes what is left, a line without its end too, and closes the session. */
static void test_the_rest_comes_with_the_record(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	auto_json *record = final_record();
	auto_free char *last = request(3);

	tell_requests(0, 2);
	assert_int_equal(import(), 0);
	tell_requests(2, 3);
	last[strlen(last) - 1] = '\0';
	tell(last);
	assert_done(rundir_write(&run, RECORD_FILE, record, false, &err), &err);
	import_run(&home, &run);
	check_rows(4);
	assert_int_equal(number("SELECT count(*) FROM run"), 1);
	assert_int_equal(number("SELECT bytes_down FROM egress_session WHERE state = 'closed'"), 4);
	assert_int_equal(
		number("SELECT max(seq) - (SELECT seq FROM audit WHERE action = 'egress.close') "
		       "FROM audit"),
		0);
	/* Nothing is left for anybody who comes later. */
	AUTO_PTR(store) s = NULL;
	assert_done(store_open(path, &s, &err), &err);
	assert_done(egress_events_import(s, &home, run.handle, &err), &err);
	egress_events_import_live(s, &home);
	check_rows(4);
	check_chain();
}

/* A session that was taken back goes on telling until its run ends. */
static void test_settled_while_it_lives(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	auto_json *record = final_record();
	AUTO_PTR(store) s = NULL;

	record_set_state(record, "running");
	assert_done(rundir_write(&run, RECORD_FILE, record, false, &err), &err);
	tell_requests(0, 2);
	assert_done(store_open(path, &s, &err), &err);
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	assert_done(query_begin(s, &t, &err), &err);
	assert_done(egress_sessions_settle(s, &home, run.handle, "revoked", &err), &err);
	assert_done(query_commit(&t, &err), &err);
	check_rows(2);
	tell_requests(2, 3);
	egress_events_import_live(s, &home);
	check_rows(3);
}

static void move_ledger(const char *to)
{
	static const char *const ends[] = {"", "-wal", "-shm"};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		auto_free char *from = mem_printf("state.db%s", ends[i]);
		auto_free char *there = mem_printf("%s%s", to, ends[i]);
		assert_true(renameat(dir, from, dir, there) == 0 || i > 0);
	}
}

/* An older copy of the ledger has neither the rows nor the note that they are there. */
static void test_a_ledger_that_was_away(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	auto_free char *copy = mem_printf("VACUUM INTO '%s/older'", path);
	AUTO_PTR(store) s = NULL;

	tell_requests(0, 2);
	assert_int_equal(import(), 0);
	assert_done(store_open(path, &s, &err), &err);
	assert_done(query_exec(s, copy, &err), &err);
	store_free(TAKE_PTR(s));
	tell_requests(2, 4);
	assert_int_equal(import(), 0);
	check_rows(4);
	move_ledger("newer");
	assert_int_equal(import(), 1);
	move_ledger("empty");
	assert_int_equal(renameat(dir, "older", dir, "state.db"), 0);
	check_rows(2);
	assert_int_equal(import(), 0);
	check_rows(4);
}

static void test_killed_anywhere(void **state)
{
	(void)state;
	static const char *const seams[] = {"events:begin", "events:rows", "events:noted",
		"events:committed", "store-exec", "store-write"};
	unsigned told = 0;

	for (size_t i = 0; i < ARRAY_SIZE(seams); i++) {
		unsigned n = 1;
		for (;; n++) {
			auto_free char *armed = mem_printf("%s:%u=kill", seams[i], n);
			tell_requests(told, told + 2);
			told += 2;
			bool killed = killed_at(armed);
			assert_int_equal(import(), 0);
			check_rows(told);
			check_chain();
			if (!killed)
				break;
		}
		assert_true(n > 1);
	}
}

/* Several at once, while more is told. */
static void test_side_by_side(void **state)
{
	(void)state;
	enum { PROCESSES = 4, ROUNDS = 10 };
	int status;

	for (int i = 0; i < PROCESSES; i++) {
		if (fork() != 0)
			continue;
		int failed = 0;
		for (int j = 0; j < ROUNDS; j++)
			failed |= import();
		_exit(failed);
	}
	tell_requests(0, 40);
	for (int i = 0; i < PROCESSES; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(import(), 0);
	check_rows(40);
	check_chain();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_RUN(test_as_it_comes),
		WITH_RUN(test_a_long_file),
		WITH_RUN(test_a_line_that_is_not_whole),
		WITH_RUN(test_unknown_and_gone),
		WITH_RUN(test_the_rest_comes_with_the_record),
		WITH_RUN(test_settled_while_it_lives),
		WITH_RUN(test_a_ledger_that_was_away),
		WITH_RUN(test_killed_anywhere),
		WITH_RUN(test_side_by_side),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Revocations in a ledger whose runs are gone, unreachable or not on record (§18). */
#include "unit/sys/unit-dir.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/rundir/record.h"
#include "run/leases.h"
#include "run/revoke.h"
#include "store/grant.h"
#include "store/lease.h"
#include "store/query.h"
#include "store/store.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/lockfile.h"

enum { MANY = 1000, GRANT_ENDS = 2000000000 };
#define GRANT "grant_aaaaaaaaaaaaaaaaaaaaaaaa"

struct world {
	struct home home;
	struct store *store;
};

static void world_done(struct world *w)
{
	store_free(w->store);
	home_done(&w->home);
}

static void open_world(struct world *w)
{
	auto_error struct error err = ERROR_INIT;
	struct store_grant g = {.id = TEXT(GRANT),
		.secret = TEXT("sec_1"),
		.name = TEXT("token"),
		.kind = TEXT("file"),
		.subject = TEXT("any"),
		.constraints = TEXT("{}"),
		.created_by = TEXT("me"),
		.boot_id = TEXT(""),
		.created_at = 1,
		.expires_at = GRANT_ENDS};

	*w = (struct world){.home = HOME_INIT};
	assert_done(home_open(path, &w->home, &err), &err);
	assert_done(store_open(w->home.path, &w->store, &err), &err);
	assert_done(store_grant_add(w->store, &g, &err), &err);
}

static void hold(struct world *w, const char *lease, const char *run)
{
	auto_error struct error err = ERROR_INIT;
	struct store_lease l = {.id = text_of(lease),
		.run = text_of(run),
		.project = TEXT("/p"),
		.executor = TEXT("container"),
		.boot_id = TEXT(""),
		.opened_at = 1,
		.expires_at = 900};
	struct store_holding h = {.lease = l.id,
		.grant = TEXT(GRANT),
		.kind = TEXT("file"),
		.files = TEXT("[\"token\"]"),
		.env_keys = TEXT("[]")};

	assert_done(store_lease_add(w->store, &l, &err), &err);
	assert_done(store_lease_add_holding(w->store, &h, &err), &err);
}

static int64_t order_action(struct world *w, enum revocation_action action)
{
	auto_error struct error err = ERROR_INIT;
	const struct revoke_order o = {.lease = "",
		.grant = GRANT,
		.action = action,
		.reason = "token=abcdefgh12345678",
		.actor = "me"};
	int64_t number = 0;

	assert_done(revoke_store(w->store, &o, &number, &err), &err);
	return number;
}

static int64_t order(struct world *w)
{
	return order_action(w, REVOCATION_SCRUB);
}

static json_t *carry_out(struct world *w, int64_t number)
{
	auto_error struct error err = ERROR_INIT;
	struct revoke_ground g = {.home = &w->home, .store = w->store};
	json_t *answer = NULL;

	assert_done(revoke_carry_out(&g, number, &answer, &err), &err);
	return answer;
}

/* A run directory as a start leaves it, without a supervisor. */
static void make_run(struct world *w, const char *state, const char *lease, char ret[HANDLE_SIZE])
{
	auto_error struct error err = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;
	struct record_facts facts = {.executor_id = "container", .project = "/p"};
	auto_json *record = record_new(&facts);
	auto_json *plan =
		json_pack("{s:{s:s, s:[{s:s}]}}", "lease", "id", lease, "bindings", "grant", GRANT);

	record_set_state(record, state);
	assert_done(rundir_create(&w->home, &run, &err), &err);
	assert_done(rundir_write(&run, RECORD_FILE, record, false, &err), &err);
	assert_done(rundir_write(&run, REQUEST_FILE, plan, false, &err), &err);
	memcpy(ret, run.handle, HANDLE_SIZE);
}

static size_t rows(struct world *w, const char *sql)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(query) q = QUERY_INIT;

	assert_done(query_prepare(w->store, sql, &q, &err), &err);
	assert_int_equal(query_step(&q, &err), 1);
	return (size_t)query_int(&q, 0);
}

/* Stored, and nothing sent: whoever comes next finishes it. */
static void test_a_crash_in_between(void **state)
{
	(void)state;
	AUTO(world) w;
	bool due = false;
	auto_error struct error err = ERROR_INIT;

	open_world(&w);
	hold(&w, "lease_1", "c-000000000001");
	order(&w);
	assert_done(revoke_is_due(w.store, &due, &err), &err);
	assert_true(due);
	revoke_due(&w.home, NULL);
	assert_done(revoke_is_due(w.store, &due, &err), &err);
	assert_false(due);
	assert_int_equal(rows(&w, "SELECT count(*) FROM revocation WHERE state = 'revoked'"), 1);
	/* Again: nothing is done twice. */
	order(&w);
	auto_json *answer = carry_out(&w, 1);
	assert_string_equal(json_get_string(answer, "state"), "revoked");
	/* secret.revoke, lease.release of the sweep, lease.revoke_sent, lease.revoke_acked */
	assert_int_equal(rows(&w, "SELECT count(*) FROM audit"), 4);
	assert_int_equal(
		rows(&w, "SELECT count(*) FROM revocation WHERE reason LIKE '%abcdefgh%'"), 0);
}

/* What was only wiped can still be ended; what was ended is not wiped once more. */
static void test_ended_after_wiped(void **state)
{
	(void)state;
	AUTO(world) w;

	open_world(&w);
	hold(&w, "lease_1", "c-000000000001");
	int64_t wiped = order(&w);
	int64_t ended = order_action(&w, REVOCATION_KILL);
	assert_int_not_equal(wiped, ended);
	assert_int_equal(order_action(&w, REVOCATION_KILL), ended);
	assert_int_equal(order(&w), ended);
	auto_json *answer = carry_out(&w, ended);
	assert_string_equal(json_get_string(answer, "action"), "kill");
	assert_int_equal(json_array_size(json_object_get(answer, "runs")), 1);
	assert_int_equal(rows(&w, "SELECT count(*) FROM audit WHERE action = 'secret.revoke'"), 2);
}

static void test_many(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	AUTO(world) w;

	open_world(&w);
	assert_done(query_begin(w.store, &t, &err), &err);
	for (int i = 0; i < MANY; i++) {
		auto_free char *lease = mem_printf("lease_%024x", (unsigned)i);
		auto_free char *run = mem_printf("c-%012x", (unsigned)i);
		hold(&w, lease, run);
	}
	assert_done(query_commit(&t, &err), &err);
	auto_json *answer = carry_out(&w, order(&w));
	assert_string_equal(json_get_string(answer, "state"), "revoked");
	assert_int_equal(json_array_size(json_object_get(answer, "runs")), MANY);
	assert_int_equal(
		rows(&w, "SELECT count(*) FROM audit WHERE action = 'lease.revoke_acked'"), MANY);
	assert_int_equal(rows(&w, "SELECT count(*) FROM lease_grant WHERE taken_back = 0"), 0);
	/* They are swept: nobody will release them. */
	assert_done(leases_sweep(&w.home, w.store, true, &err), &err);
	assert_int_equal(rows(&w, "SELECT count(*) FROM lease WHERE state = 'open'"), 0);
}

/* Another command that has seen it pending, and goes on when its time is up. */
static pid_t start_slow_command(void)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		auto_error struct error err = ERROR_INIT;
		AUTO(home) home = HOME_INIT;
		fault_arm("revoke:announced=stop");
		if (home_open(path, &home, &err) == 0)
			revoke_due(&home, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	assert_true(WIFSTOPPED(status));
	return child;
}

/* What is done stays done, and is on record once. */
static void test_two_at_once(void **state)
{
	(void)state;
	enum { TIME_IS_UP_MS = 2200 };
	auto_error struct error err = ERROR_INIT;
	AUTO(world) w;

	open_world(&w);
	hold(&w, "lease_1", "c-000000000001");
	int64_t number = order(&w);
	store_free(w.store);
	pid_t child = start_slow_command();
	int64_t began = clock_boottime_ms();
	assert_done(store_open(w.home.path, &w.store, &err), &err);
	auto_json *answer = carry_out(&w, number);
	assert_string_equal(json_get_string(answer, "state"), "revoked");
	clock_sleep_ms(began + TIME_IS_UP_MS - clock_boottime_ms());
	kill(child, SIGCONT);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(rows(&w, "SELECT count(*) FROM revocation WHERE state = 'revoked'"), 1);
	assert_int_equal(rows(&w, "SELECT count(*) FROM revocation_run WHERE result = 'done'"), 1);
	assert_int_equal(
		rows(&w, "SELECT count(*) FROM audit WHERE action IN ('lease.revoke_acked', "
			 "'lease.revoke_failed')"),
		1);
}

/* Without a descriptor to look at a run: it is not gone for that, and keeps what it has. */
static void test_no_descriptor(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	char handle[HANDLE_SIZE];
	AUTO(rundir) run = RUNDIR_INIT;
	AUTO(world) w;

	open_world(&w);
	make_run(&w, "running", "lease_1", handle);
	hold(&w, "lease_1", handle);
	assert_done(rundir_open(&w.home, handle, &run, &err), &err);
	auto_fd int supervisor = -1;
	assert_done(lockfile_try(run.fd, "lock", &supervisor, &err), &err);
	fault_arm("rundir:open");
	assert_done(leases_sweep(&w.home, w.store, true, &err), &err);
	assert_false(fault_armed());
	assert_int_equal(rows(&w, "SELECT count(*) FROM lease WHERE state = 'open'"), 1);
	/* The first look is for who adopts it, the second is to tell it. */
	int64_t number = order(&w);
	fault_arm("rundir:open:2");
	auto_json *answer = carry_out(&w, number);
	assert_false(fault_armed());
	assert_string_equal(json_get_string(answer, "state"), "unreachable");
	assert_int_equal(rows(&w, "SELECT count(*) FROM lease_grant WHERE taken_back = 0"), 1);
}

/* A run that ended is done; one that holds it and is not on record makes it fail. */
static void test_not_on_record(void **state)
{
	(void)state;
	AUTO(world) w;
	char ended[HANDLE_SIZE], alive[HANDLE_SIZE];

	open_world(&w);
	make_run(&w, "exited", "lease_1", ended);
	hold(&w, "lease_1", ended);
	auto_json *first = carry_out(&w, order(&w));
	assert_string_equal(json_get_string(first, "state"), "revoked");

	make_run(&w, "running", "lease_2", alive);
	auto_json *second = carry_out(&w, order(&w));
	assert_string_equal(json_get_string(second, "state"), "failed");
	assert_non_null(json_get_string(second, "advice"));
	const json_t *run = json_array_get(json_object_get(second, "runs"), 1);
	assert_string_equal(json_get_string(run, "run"), alive);
	assert_string_not_equal(json_get_string(run, "result"), "done");
}

/* Who has no time left tells nobody, and says nothing of it. */
static void test_no_time(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(world) w;

	open_world(&w);
	hold(&w, "lease_1", "c-000000000001");
	struct revoke_ground g = {.home = &w.home, .store = w.store, .until = 1};
	auto_json *answer = NULL;
	int64_t number = order(&w);
	assert_done(revoke_carry_out(&g, number, &answer, &err), &err);
	assert_string_equal(json_get_string(answer, "state"), "revoke_pending");
	assert_int_equal(
		rows(&w, "SELECT count(*) FROM audit WHERE action = 'lease.revoke_sent'"), 0);
	auto_json *later = carry_out(&w, number);
	assert_string_equal(json_get_string(later, "state"), "revoked");
}

static void test_nothing_there(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(world) w;
	int64_t number;
	const struct revoke_order no_grant = {
		.lease = "", .grant = "grant_bbbbbbbbbbbbbbbbbbbbbbbb", .actor = "me"};
	const struct revoke_order no_lease = {.lease = "lease_1", .grant = "", .actor = "me"};
	const struct revoke_order not_its = {
		.lease = "lease_2", .grant = "grant_bbbbbbbbbbbbbbbbbbbbbbbb", .actor = "me"};

	open_world(&w);
	hold(&w, "lease_2", "c-000000000002");
	assert_int_equal(revoke_store(w.store, &no_grant, &number, &err), -1);
	assert_int_equal(err.code, ERROR_GRANT_NOT_FOUND);
	assert_int_equal(revoke_store(w.store, &no_lease, &number, &err), -1);
	assert_int_equal(err.code, ERROR_LEASE_NOT_FOUND);
	assert_int_equal(revoke_store(w.store, &not_its, &number, &err), -1);
	assert_int_equal(err.code, ERROR_GRANT_NOT_FOUND);
	assert_int_equal(rows(&w, "SELECT count(*) FROM revocation"), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_DIR(test_a_crash_in_between),
		IN_DIR(test_ended_after_wiped),
		IN_DIR(test_many),
		IN_DIR(test_two_at_once),
		IN_DIR(test_no_descriptor),
		IN_DIR(test_not_on_record),
		IN_DIR(test_no_time),
		IN_DIR(test_nothing_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

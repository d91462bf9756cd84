/*
 * ledger-bench DIR: what the ledger adds to a run, in milliseconds of wall time: what the dispatch
 * asks it, what it writes when the workload runs, and the import of the final record. The home,
 * made below DIR, has 10,000 rows in its audit trail, 1,000 runs and 100 grants to others. Prints
 * medians; asserts nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/rundir/record.h"
#include "run/import.h"
#include "run/ledger.h"
#include "run/run-lease.h"
#include "store/audit.h"
#include "store/query.h"
#include "store/task.h"
#include "sys/clock.h"
#include "vault/clocks-now.h"

enum { AUDIT_ROWS = 10000, OLD_RUNS = 1000, GRANTS = 100, ROUNDS = 51 };

static struct home home = HOME_INIT;
static const char *project;

#define MUST(call) \
	do { \
		if ((call) < 0) { \
			fprintf(stderr, "ledger-bench: %s: %s\n", #call, err.message); \
			exit(1); \
		} \
	} while (0)

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* A run that has ended, for the ledger to take over. */
static void make_run(const struct task_attempt *task, struct rundir *ret)
{
	auto_error struct error err = ERROR_INIT;

	MUST(rundir_create(&home, ret, &err));
	struct record_facts facts = {.handle = ret->handle,
		.executor_id = "container",
		.executor_kind = "container",
		.project = project,
		.task_id = task ? task->id : 0,
		.image = "docker.io/library/busybox:1"};
	json_t *record = record_new(&facts);
	record_set_state(record, "exited");
	json_object_set_new(record, "outcome", json_string("ok"));
	json_object_set_new(record, "exit_code", json_integer(0));
	if (task)
		json_object_set_new(
			record_supervision(record), "task_claim", json_string(task->claim));
	MUST(rundir_write(ret, RECORD_FILE, record, false, &err));
}

static void fill_home(void)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	auto_json *payload = json_pack("{s:s}", "project", project);
	const struct store_audit_event event = {"a.b", "project", "system", payload};

	MUST(store_open(home.path, &s, &err));
	MUST(query_begin(s, &t, &err));
	for (int i = 0; i < AUDIT_ROWS; i++)
		MUST(store_audit_add(s, &event, &err));
	for (int i = 0; i < GRANTS; i++) {
		auto_free char *sql = mem_printf(
			"INSERT INTO secret_grant (id, secret, name, kind, subject, constraints, "
			"scope, "
			"created_by, created_at, expires_at, boot_id, boottime_ms) VALUES ("
			"'grant_%024d', 'sec_%024d', 's', 'env', 'project:/other/%d', '{}', '', "
			"'x', 0, "
			"99999999999, '', 0)",
			i, i, i);
		MUST(query_exec(s, sql, &err));
	}
	MUST(query_commit(&t, &err));
	for (int i = 0; i < OLD_RUNS; i++) {
		AUTO(rundir) run = RUNDIR_INIT;
		make_run(NULL, &run);
	}
	import_all(&home);
}

static void add_task(struct task_attempt *ret)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	static int64_t count;
	struct store_task_new task = {.project = project, .title = "a task"};

	snprintf(ret->claim, sizeof(ret->claim), "%032llx", (unsigned long long)++count);
	MUST(store_open(home.path, &s, &err));
	MUST(store_relax(s, &err));
	MUST(store_task_add(s, &task, &ret->id, &err));
}

static void claim(const struct task_attempt *task)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	int64_t id;

	MUST(store_open(home.path, &s, &err));
	MUST(store_task_claim(s, project, task->id, task->claim, &id, &err));
}

static void ask(struct provider *provider)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	AUTO(run_lease) lease = RUN_LEASE_INIT;
	struct run_lease_who who = {.home = home.path, .project = project, .executor = "container"};

	MUST(store_open_existing(home.path, &s, &err));
	MUST(provider_load(s, project, provider, &err));
	MUST(run_lease_find(s, &who, &lease, &err));
}

/* One run; what is not the ledger's is outside the clock. */
static int64_t measure_us(const struct task_attempt *task)
{
	AUTO(provider) provider = PROVIDER_INIT;
	AUTO(rundir) run = RUNDIR_INIT;
	auto_json *warnings = json_array();

	make_run(task, &run);
	int64_t begin = clock_boottime_us();
	if (task)
		claim(task);
	ask(&provider);
	ledger_started(&(struct ledger_dispatch){.home = home.path,
		.provider = &provider,
		.handle = run.handle,
		.warnings = warnings,
		.task = task});
	import_run(&home, &run);
	return clock_boottime_us() - begin;
}

static void measure(const char *name, bool of_task)
{
	int64_t us[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		struct task_attempt task = {.id = 0};
		if (of_task)
			add_task(&task);
		us[i] = measure_us(of_task ? &task : NULL);
	}
	qsort(us, ROUNDS, sizeof(us[0]), by_size);
	printf("%-16s %.2f ms, %.2f to %.2f\n", name, (double)us[ROUNDS / 2] / 1000,
		(double)us[0] / 1000, (double)us[ROUNDS - 1] / 1000);
}

int main(int argc, char **argv)
{
	auto_error struct error err = ERROR_INIT;

	if (argc != 2) {
		fputs("usage: ledger-bench DIR\n", stderr);
		return 2;
	}
	auto_free char *path = mem_printf("%s/ledger-home", argv[1]);
	project = argv[1];
	MUST(home_open(path, &home, &err));
	fill_home();
	measure("run", false);
	measure("run of a task", true);
	home_done(&home);
	return 0;
}

#include "executor/localprocess/local-driver.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "executor/container/driver/smoke.h"
#include "executor/container/preflight.h"
#include "executor/container/request.h"
#include "executor/localprocess/local-start.h"
#include "executor/rundir/record.h"
#include "executor/rundir/rundir-ops.h"
#include "sys/program.h"

enum { SMOKE_TIMEOUT_MS = 120000 };

struct local_driver {
	char *home; /* cloop's; may be NULL */
};

static void driver_free(void *data)
{
	struct local_driver *d = data;

	free(d->home);
	free(d);
}

/* sandbox-spec.md §14: nothing that is not named here. */
void local_driver_capabilities(struct candidate *ret)
{
	*ret = (struct candidate){.id = TEXT(LOCAL_DRIVER_ID), .kind = TEXT("localprocess")};
	ret->platform = TEXT("linux");
	ret->isolation = TEXT("none");
	ret->network_off = TEXT("no");
	ret->network_egress = true;
	ret->shares_host_filesystem = ret->stream = ret->signal = true;
}

static void capabilities(const struct executor *e, struct candidate *ret)
{
	(void)e;
	local_driver_capabilities(ret);
}

static int health_check(const struct executor *e, struct error *err)
{
	auto_free char *shim = program_path("cloop-shim");

	(void)e;
	if (access(shim, X_OK) < 0)
		return error_set_errno(
			err, ERROR_SHIM_FAILED, errno, "the supervisor %s", quoted_string(shim));
	return 0;
}

static void judge_work_dir(const char *dir, struct preflight_report *report)
{
	struct stat st;

	if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode))
		preflight_report_add(report, "workdir", PREFLIGHT_FAIL, "name a project directory",
			"%s is not a directory", quoted_string(dir));
	else
		preflight_report_add(report, "workdir", PREFLIGHT_OK, "", "%s is a directory",
			quoted_string(dir));
}

static int preflight(
	const struct executor *e, const char *work_dir, json_t **ret, struct error *err)
{
	AUTO(preflight_report) report = {.n = 0};
	auto_error struct error failure = ERROR_INIT;

	(void)err;
	preflight_report_add(&report, "isolation", PREFLIGHT_WARN,
		"use a container executor for work that you did not write yourself",
		"nothing is isolated: a run is a process of this host, as user %u, and sees and "
		"changes all that this user can, over the network too",
		geteuid());
	if (geteuid() == 0)
		preflight_report_add(&report, "user", PREFLIGHT_WARN,
			"run cloop as an ordinary user", "runs are processes of root");
	if (health_check(e, &failure) < 0)
		preflight_report_add(&report, "supervisor", PREFLIGHT_FAIL, "reinstall cloop", "%s",
			failure.message);
	else
		preflight_report_add(
			&report, "supervisor", PREFLIGHT_OK, "", "the supervisor can be started");
	if (work_dir)
		judge_work_dir(work_dir, &report);
	*ret = json_pack("{s:s, s:n, s:n, s:n, s:o, s:b}", "executor_id", e->id, "runtime",
		"oci_runtime", "image", "findings", preflight_report_to_json(&report), "ok",
		preflight_ok(&report));
	if (work_dir)
		json_object_set_new(*ret, "work_dir", json_from_string(work_dir));
	return 0;
}

static int run_smoke(const struct executor *e, const char *dir, json_t *result, struct error *err)
{
	const struct local_driver *d = e->driver;
	auto_free char *program = program_path("cloop-guest");
	const struct text argv[] = {text_of(program), TEXT("version")};
	struct container_request request = {
		.work_dir = text_of(dir), .argv = argv, .n_argv = ARRAY_SIZE(argv)};
	struct record_facts facts = {.executor_id = e->id,
		.executor_kind = executor_kind(e),
		.isolation = "none",
		.title = "smoke test"};
	auto_json *first = record_new(&facts);
	struct executor_start start = {.home = d->home,
		.request = &request,
		.record = first,
		.timeout_ms = SMOKE_TIMEOUT_MS,
		.cancel_fd = -1};

	return smoke_run(e, &start, result, err);
}

static int smoke_test(
	const struct executor *e, const char *work_dir, json_t **ret, struct error *err)
{
	char dir[] = "/tmp/cloop-smoke-XXXXXX";

	*ret = json_pack("{s:n, s:n, s:n, s:n, s:n, s:n, s:n}", "image", "runtime", "oci_runtime",
		"container_name", "output", "exit_code", "duration_ms");
	if (!work_dir && !mkdtemp(dir))
		return error_set_errno(err, ERROR_IO, errno, "making %s", dir);
	int r = run_smoke(e, work_dir ? work_dir : dir, *ret, err);
	if (!work_dir)
		rmdir(dir);
	return r;
}

static const struct executor_ops local_ops = {
	.kind = "localprocess",
	.capabilities = capabilities,
	.health_check = health_check,
	.start = local_start,
	.signal = rundir_ops_signal,
	.stop = rundir_ops_stop,
	.status = rundir_ops_status,
	.handles = rundir_ops_handles,
	.preflight = preflight,
	.smoke_test = smoke_test,
	.free = driver_free,
};

struct executor *local_driver_new(const char *home)
{
	struct local_driver *d = mem_alloc(sizeof(*d));

	d->home = home ? mem_strdup(home) : NULL;
	return executor_new(&local_ops, LOCAL_DRIVER_ID, d);
}

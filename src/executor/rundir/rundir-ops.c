#include "executor/rundir/rundir-ops.h"

#include <string.h>

#include "executor/rundir/control.h"
#include "executor/rundir/record.h"

enum { CONTROL_TIMEOUT_MS = 60000, HANDLES_MAX = 100000 };

int rundir_ops_status(const struct executor *e, const char *home, const char *handle, json_t **ret,
	struct error *err)
{
	AUTO(home) h = HOME_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	(void)e;
	if (home_open(home, &h, err) < 0 || rundir_open(&h, handle, &run, err) < 0)
		return -1;
	*ret = rundir_read(&run, RECORD_FILE, err);
	return *ret ? 0 : -1;
}

/* A request to the supervisor; an ended run is done already. */
static int tell(const char *home, const char *handle, const json_t *request, int64_t timeout_ms,
	struct error *err)
{
	AUTO(home) h = HOME_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	if (home_open(home, &h, err) < 0 || rundir_open(&h, handle, &run, err) < 0)
		return -1;
	if (record_final_now(&run))
		return 0;
	if (control_call(&h, handle, request, timeout_ms, NULL, err) == 0)
		return 0;
	return record_final_now(&run) ? 0 : -1;
}

int rundir_ops_signal(const struct executor *e, const char *home, const char *handle,
	enum executor_signal signal, struct error *err)
{
	(void)e;
	auto_json *request =
		json_pack("{s:s, s:s}", "op", "signal", "signal", executor_signal_text(signal));

	return tell(home, handle, request, CONTROL_TIMEOUT_MS, err);
}

int rundir_ops_stop(const struct executor *e, const char *home, const char *handle,
	const struct executor_stop *how, struct error *err)
{
	(void)e;
	auto_json *request =
		json_pack("{s:s, s:I}", "op", "stop", "grace_ms", (json_int_t)how->grace_ms);

	return tell(home, handle, request, 0, err);
}

int rundir_ops_handles(
	const struct executor *e, const char *home, struct strv *ret, struct error *err)
{
	AUTO(home) h = HOME_INIT;
	AUTO(strv) all = STRV_INIT(HANDLES_MAX);

	if (home_open(home, &h, err) < 0 || rundir_list(&h, &all, err) < 0)
		return -1;
	strv_foreach (handle, &all) {
		auto_error struct error ignored = ERROR_INIT;
		auto_json *record = NULL;
		if (rundir_ops_status(e, home, *handle, &record, &ignored) < 0)
			continue;
		const char *id = json_get_string(record, "executor_id");
		if (id && strcmp(id, e->id) == 0 && strv_add(ret, *handle) < 0)
			break;
	}
	return 0;
}

#include "executor/container/driver/smoke.h"

#include <string.h>

#include "base/text.h"
#include "executor/rundir/record.h"
#include "executor/runlog/log-reader.h"
#include "sys/cancel.h"
#include "sys/clock.h"

enum { SHOWN_MAX = 400, REMOVED_WITHIN_MS = 10000, OUTPUT_MAX = 65536, LATE_MS = 120000 };

static void read_output(const struct rundir *run, struct str *out)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(log_reader) reader = NULL;
	struct log_frame frame;

	if (log_reader_open(run->fd, 0, &reader, &err) != 0)
		return;
	while (log_reader_next(reader, &frame, &err) == LOG_READ_FRAME)
		if (frame.stream == LOG_STDOUT || frame.stream == LOG_STDERR)
			str_add(out, frame.data.p, frame.data.len);
}

/* The supervisor removes the container after the end: whoever asked for the test sees none left. */
static void wait_removed(const struct rundir *run)
{
	auto_error struct error err = ERROR_INIT;
	int64_t until = clock_boottime_ms() + REMOVED_WITHIN_MS;

	while (rundir_supervised(run, &err) == 1 && clock_boottime_ms() < until)
		if (cancel_pause(20))
			return;
}

/* Waits until the record is final; the workload itself is bounded by its timeout. */
static json_t *wait_final(const struct rundir *run, int64_t timeout_ms, struct error *err)
{
	int64_t until = clock_boottime_ms() + timeout_ms + LATE_MS;

	for (;;) {
		json_t *record = rundir_read(run, RECORD_FILE, err);
		if (!record || record_final(record) || clock_boottime_ms() > until)
			return record;
		json_decref(record);
		if (cancel_pause(20)) {
			cancel_refuse(err, "the smoke run");
			return NULL;
		}
	}
}

/* Nobody waits for it any more. */
static void end_run(const struct executor *e, const char *home, const char *handle)
{
	auto_error struct error ignored = ERROR_INIT;
	int before = cancel_use(-1);

	(void)!e->ops->signal(e, home, handle, EXECUTOR_KILL, &ignored);
	cancel_use(before);
}

int smoke_run(const struct executor *e, const struct executor_start *start, json_t *result,
	struct error *err)
{
	char handle[EXECUTOR_HANDLE_SIZE];
	AUTO(home) h = HOME_INIT;
	AUTO(rundir) run = RUNDIR_INIT;
	AUTO(str) out = STR_INIT(OUTPUT_MAX);

	if (e->ops->start(e, start, handle, err) < 0 || home_open(start->home, &h, err) < 0 ||
		rundir_open(&h, handle, &run, err) < 0)
		return -1;
	auto_json *request = rundir_read(&run, REQUEST_FILE, err);
	json_object_set(result, "container_name", json_object_get(request, "container_name"));
	auto_json *record = wait_final(&run, start->timeout_ms, err);
	if (!record) {
		end_run(e, start->home, handle);
		return -1;
	}
	wait_removed(&run);
	read_output(&run, &out);
	struct text shown = text_trim((struct text){str_text(&out), out.len});
	shown.len = utf8_cut(shown, SHOWN_MAX);
	json_object_set_new(result, "output", json_from_bytes(shown));
	json_object_set(result, "exit_code", json_object_get(record, "exit_code"));
	json_object_set(result, "duration_ms",
		json_object_get(json_object_get(record, "usage"), "wall_ms"));
	const char *outcome = json_get_string(record, "outcome");
	if (!outcome || strcmp(outcome, "ok") != 0 || !text_starts(shown, "cloop "))
		return error_set(err, ERROR_INIT_FAILED, "the smoke run ended %s and printed %s",
			outcome ? outcome : "without an outcome", quoted(shown));
	return 0;
}

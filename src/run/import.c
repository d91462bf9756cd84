#include "run/import.h"

#include "base/mem.h"
#include "executor/rundir/record.h"
#include "run/egress-events.h"
#include "run/egress-sessions.h"
#include "run/final-record.h"
#include "run/leases.h"
#include "run/ledger.h"
#include "run/task-artifact.h"
#include "run/task-end.h"
#include "store/audit.h"
#include "store/journal.h"
#include "store/lease.h"
#include "store/project.h"
#include "store/query.h"
#include "sys/fault.h"
#include "sys/log.h"

enum { BATCH = 64 };

/* A run that has ended and is not in the ledger yet. */
struct due {
	struct rundir run;
	json_t *record;
	struct final_record final;
};

struct batch {
	struct due v[BATCH];
	size_t n;
};

static void batch_done(struct batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		final_record_done(&b->v[i].final);
		json_decref(b->v[i].record);
		rundir_done(&b->v[i].run);
	}
	b->n = 0;
}

static int add_event(struct store *s, const struct final_record *f, const char *kind,
	const char *message, struct error *err)
{
	auto_free char *run = mem_strndup(f->row.handle.p, f->row.handle.len);
	struct store_event event = {
		.project = f->project,
		.kind = kind,
		.run = run,
		.task = f->row.task,
		.message = message,
	};

	return store_journal_add(s, &event, err);
}

static bool has_warning(const json_t *record, enum error_code code)
{
	return record_warned(record, error_code_text(code));
}

/* A sandbox that its filter no longer held (network.md §9.6, §12.4). */
static int audit_filter(
	struct store *s, const struct final_record *f, const json_t *record, struct error *err)
{
	auto_json *payload = json_pack("{s:s, s:s, s:o, s:o, s:o}", "decision", "deny", "verdict",
		"filter_lost", "executor_id",
		json_from_string(json_get_string(record, "executor_id")), "project",
		json_from_string(f->project), "handle", json_from_bytes(f->row.handle));
	struct store_audit_event event = {
		.action = "egress.filter_lost",
		.entity = "run",
		.actor = "system",
		.payload = payload,
	};

	if (!has_warning(record, ERROR_EGRESS_FILTER_LOST))
		return 0;
	return store_audit_add(s, &event, err);
}

/* Warnings have a code that is a word; anything else was not written by us. */
static int journal_warnings(
	struct store *s, const struct final_record *f, const json_t *record, struct error *err)
{
	enum { KIND_MAX = 64 };
	size_t i;
	json_t *w;

	json_array_foreach(json_object_get(record, "warnings"), i, w)
	{
		const char *code = json_get_string(w, "code"),
			   *said = json_get_string(w, "message");
		if (!code || !said || strlen(code) > KIND_MAX || !code[0] ||
			!text_all_word(text_of(code), "_."))
			continue;
		/* Each crossing has a row of its own. */
		if (strcmp(code, error_code_text(ERROR_DISK_LOW)) == 0)
			continue;
		if (add_event(s, f, code, said, err) < 0)
			return -1;
	}
	return 0;
}

static int journal_crossings(
	struct store *s, const struct final_record *f, const json_t *record, struct error *err)
{
	auto_free char *run = mem_strndup(f->row.handle.p, f->row.handle.len);
	const json_t *supervision = json_object_get(record, "supervision");
	size_t i;
	json_t *crossing;

	json_array_foreach(json_object_get(supervision, "disk_low"), i, crossing)
	{
		struct store_event event = {
			.project = f->project,
			.kind = error_code_text(ERROR_DISK_LOW),
			.run = run,
			.task = f->row.task,
			.message = json_get_string(crossing, "message"),
			.at_ns = json_get_int(crossing, "at_ns", 0),
		};
		if (!event.message || event.at_ns <= 0)
			continue;
		if (ledger_crossing(s, &event, err) < 0)
			return -1;
	}
	return 0;
}

/* How it ended is an event where it is not the workload's own doing. */
static int journal_end(struct store *s, const struct final_record *f, struct error *err)
{
	static const char *const kinds[RUN_OUTCOME_COUNT] = {
		[OUTCOME_TIMEOUT] = "timeout",
		[OUTCOME_OOM] = "oom",
		[OUTCOME_DISK_LIMIT] = "disk_limit",
		[OUTCOME_REVOKED] = "revoked",
		[OUTCOME_LOST] = "lost",
		[OUTCOME_START_FAILED] = "refused",
	};
	AUTO(task_end) end = {.note = NULL};

	const char *kind = kinds[f->outcome];
	if (!kind)
		return 0;
	/* Measured again after a wait for free space. */
	if (text_is(f->row.code, error_code_text(ERROR_WORKSPACE_OVER_DISK_LIMIT)))
		kind = "disk_limit";
	task_end_judge(f, &end);
	auto_free char *said =
		f->row.error.p ? mem_strndup(f->row.error.p, f->row.error.len) : NULL;
	return add_event(s, f, kind, said ? said : end.note, err);
}

static int audit_finish(struct store *s, const struct final_record *f, const struct task_end *end,
	struct error *err)
{
	auto_json *payload = json_pack("{s:I, s:o, s:o, s:s, s:o, s:o}", "task",
		(json_int_t)f->row.task, "project", json_from_string(f->project), "run",
		json_from_bytes(f->row.handle), "status", store_task_state_text(end->state),
		"outcome", json_from_bytes(f->row.outcome), "exit_code",
		json_from_count(f->row.exit_code));
	struct store_audit_event event = {
		.action = "task.finish",
		.entity = "task",
		.actor = "system",
		.payload = payload,
	};

	if (f->outcome == OUTCOME_DISK_LIMIT) {
		json_object_set_new(payload, "stop", json_from_bytes(f->row.outcome));
		json_object_set_new(payload, "disk_used_mb", json_from_count(f->row.disk_used_mb));
		json_object_set_new(
			payload, "disk_limit_mb", json_from_count(f->row.disk_limit_mb));
	}
	return store_audit_add(s, &event, err);
}

/* The end of the task's attempt, unless somebody ended that already. */
static int settle_task(struct store *s, const struct final_record *f, struct error *err)
{
	auto_free char *run = mem_strndup(f->row.handle.p, f->row.handle.len);
	AUTO(task_end) end = {.note = NULL};

	if (f->row.task == 0)
		return 0;
	task_end_judge(f, &end);
	struct store_task_end ended = {f->row.task, f->claim, run, end.state, end.note};
	int r = store_task_end(s, &ended, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	auto_free char *message = mem_printf("task %lld is %s%s%s", (long long)f->row.task,
		store_task_state_text(end.state), end.note ? ": " : "", end.note ? end.note : "");
	if (add_event(s, f, "task.finish", message, err) < 0)
		return -1;
	return audit_finish(s, f, &end, err);
}

static int take_over(struct store *s, const struct due *d, struct error *err)
{
	const struct final_record *f = &d->final;

	int r = store_run_add(s, &f->row, err);
	if (r < 0 || (r == 0 && egress_sessions_import(s, &d->run, d->record, err) < 0) ||
		leases_release(s, d->run.handle, err) < 0 || settle_task(s, f, err) < 0)
		return -1;
	if (r > 0)
		return 0;
	if (store_project_note(s, f->project, err) < 0 ||
		journal_warnings(s, f, d->record, err) < 0 ||
		journal_crossings(s, f, d->record, err) < 0 ||
		audit_filter(s, f, d->record, err) < 0)
		return -1;
	return journal_end(s, f, err);
}

static void ignore_lease(void *data, const struct store_lease *l)
{
	(void)data;
	(void)l;
}

/*
 * The row of a plain run is written again after a power cut, since its mark is one of this boot. An
 * audit row must not be taken back: those come with tasks and leases.
 */
static int relax(struct store *s, const struct batch *b, struct error *err)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct due *d = &b->v[i];
		int r = d->final.row.task != 0 || has_warning(d->record, ERROR_DISK_LOW) ||
					has_warning(d->record, ERROR_EGRESS_FILTER_LOST)
				? 0
				: store_lease_show_run(s, d->run.handle, ignore_lease, NULL, err);
		if (r <= 0)
			return r;
	}
	return store_relax(s, err);
}

/* In pieces, so that the one transaction is short. */
static int write_events(
	struct store *s, const struct home *home, const struct batch *b, struct error *err)
{
	for (size_t i = 0; i < b->n; i++)
		if (json_object_get(b->v[i].record, "egress") &&
			egress_events_import(s, home, b->v[i].run.handle, err) < 0)
			return -1;
	return 0;
}

static int write_rows(struct store *s, const struct batch *b, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;

	if (query_begin(s, &t, err) < 0)
		return -1;
	fault_hit("import:begin");
	for (size_t i = 0; i < b->n; i++)
		if (take_over(s, &b->v[i], err) < 0)
			return -1;
	fault_hit("import:rows");
	return query_commit(&t, err);
}

static void mark(const struct rundir *run)
{
	auto_error struct error err = ERROR_INIT;

	if (rundir_mark_imported(run, &err) < 0)
		log_debug("%s", err.message);
}

/* What follows from rows that are on the disk; until the mark it is done again. */
static void finish(struct store *s, const struct due *d)
{
	fault_hit("import:committed");
	if (d->final.row.task != 0)
		task_artifact_write(s, &d->run, d->record, &d->final);
	fault_hit("import:artifact");
	mark(&d->run);
	fault_hit("import:marked");
}

/* One transaction for all of them, and only when it is on the disk what follows. */
static void import_batch(const struct home *home, struct batch *b)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;

	if (b->n == 0)
		return;
	if (store_open(home->path, &s, &err) < 0 || relax(s, b, &err) < 0 ||
		write_events(s, home, b, &err) < 0 || write_rows(s, b, &err) < 0)
		log_warning("ended runs are not in the ledger yet: %s", err.message);
	else
		for (size_t i = 0; i < b->n; i++)
			finish(s, &b->v[i]);
	batch_done(b);
}

/* Adds the run if it is due; takes `run`. What is no record is said once, and marked. */
static void consider(struct batch *b, struct rundir *run)
{
	auto_error struct error err = ERROR_INIT;
	struct due *d = &b->v[b->n];

	*d = (struct due){.run = *run};
	*run = RUNDIR_INIT;
	d->record = rundir_imported(&d->run) ? NULL : rundir_read(&d->run, RECORD_FILE, &err);
	int r = d->record ? final_record_read(d->run.handle, d->record, &d->final, &err) : 1;
	/* A trial is no run of a project: its directory is gone with it. */
	bool trial = r == 0 && json_get_bool(record_supervision(d->record), "trial", false);
	if (r == 0 && !trial) {
		b->n++;
		return;
	}
	if (trial)
		mark(&d->run);
	if (r < 0 && record_final(d->record)) {
		log_warning("%s", err.message);
		mark(&d->run);
	}
	json_decref(d->record);
	rundir_done(&d->run);
}

void import_run(const struct home *home, const struct rundir *run)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(batch) b = {.n = 0};
	AUTO(rundir) own = RUNDIR_INIT;

	if (rundir_open(home, run->handle, &own, &err) < 0)
		return;
	consider(&b, &own);
	import_batch(home, &b);
}

void import_all(const struct home *home)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) handles = STRV_INIT(RUNDIR_RUNS_MAX);
	AUTO(batch) b = {.n = 0};

	if (rundir_handles(home, &handles, &err) < 0)
		return;
	strv_foreach (handle, &handles) {
		AUTO(rundir) run = RUNDIR_INIT;
		if (rundir_open(home, *handle, &run, &err) < 0)
			continue;
		consider(&b, &run);
		if (b.n == BATCH)
			import_batch(home, &b);
	}
	import_batch(home, &b);
}

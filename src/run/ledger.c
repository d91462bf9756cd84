#include "run/ledger.h"

#include "base/json.h"
#include "base/mem.h"
#include "executor/rundir/home.h"
#include "store/audit.h"
#include "store/journal.h"
#include "store/project.h"
#include "store/query.h"
#include "store/task.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/log.h"

static struct store_event event_of(
	const struct ledger_dispatch *d, const char *kind, const char *message)
{
	return (struct store_event){
		.project = d->provider->project,
		.kind = kind,
		.run = d->handle[0] ? d->handle : NULL,
		.task = d->task ? d->task->id : 0,
		.message = message,
	};
}

static int add_event(struct store *s, const struct ledger_dispatch *d, const char *kind,
	const char *message, struct error *err)
{
	struct store_event event = event_of(d, kind, message);

	return store_journal_add(s, &event, err);
}

static int add_warnings(struct store *s, const struct ledger_dispatch *d, struct error *err)
{
	size_t i;
	json_t *w;

	json_array_foreach(
		d->warnings, i, w) if (add_event(s, d, json_get_string(w, "code"),
					       json_get_string(w, "message"), err) < 0) return -1;
	return 0;
}

static int add_start(struct store *s, const struct ledger_dispatch *d, struct error *err)
{
	if (!d->task)
		return 0;
	/* 1: the run was short, and somebody else has taken its end over already. */
	if (store_task_link(s, d->task->claim, d->handle, err) < 0)
		return -1;
	auto_free char *message = mem_printf("task %lld is running", (long long)d->task->id);
	return add_event(s, d, "task.start", message, err);
}

static int write_start(const struct ledger_dispatch *d, struct error *err)
{
	AUTO_PTR(store) s = NULL;
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;

	if (store_open(d->home, &s, err) < 0 || query_begin(s, &t, err) < 0 ||
		store_project_note(s, d->provider->project, err) < 0 || add_start(s, d, err) < 0 ||
		add_warnings(s, d, err) < 0)
		return -1;
	fault_hit("ledger:started");
	return query_commit(&t, err);
}

void ledger_started(const struct ledger_dispatch *d)
{
	auto_error struct error err = ERROR_INIT;
	bool known = d->provider->known && json_array_size(d->warnings) == 0 && !d->task;

	if (known || !d->provider->project)
		return;
	if (write_start(d, &err) < 0)
		log_warning("the start is not in the ledger yet: %s", err.message);
}

int ledger_crossing(struct store *s, const struct store_event *event, struct error *err)
{
	auto_json *payload =
		json_pack("{s:o, s:s, s:o}", "project", json_from_string(event->project), "run",
			event->run ? event->run : "", "message", json_from_string(event->message));
	struct store_audit_event row = {
		.action = event->kind, .entity = "run", .actor = "system", .payload = payload};
	char at[CLOCK_TEXT_SIZE];

	if (event->at_ns > 0) {
		clock_format(event->at_ns, at);
		json_object_set_new(payload, "at", json_string(at));
	}
	return store_journal_add(s, event, err) < 0 ? -1 : store_audit_add(s, &row, err);
}

static int write_space(const struct ledger_dispatch *d, const char *text, struct error *err)
{
	AUTO_PTR(store) s = NULL;
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	struct store_event event = event_of(d, error_code_text(ERROR_DISK_LOW), text);

	if (store_open(d->home, &s, err) < 0 || query_begin(s, &t, err) < 0 ||
		ledger_crossing(s, &event, err) < 0)
		return -1;
	return query_commit(&t, err);
}

void ledger_space(const struct ledger_dispatch *d, const char *text)
{
	auto_error struct error err = ERROR_INIT;

	if (d->provider->project && write_space(d, text, &err) < 0)
		log_warning("that free space is low is not in the ledger: %s", err.message);
}

static bool of_the_store(const struct error *refusal)
{
	static const enum error_code codes[] = {ERROR_STORE_BUSY, ERROR_STORE_CORRUPT,
		ERROR_STORE_FAILED, ERROR_STORE_NEWER, ERROR_HOME_UNUSABLE, ERROR_NO_SPACE};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (error_is(refusal, codes[i]))
			return true;
	return false;
}

static int write_refusal(
	const struct ledger_dispatch *d, const struct error *refusal, struct error *err)
{
	AUTO(home) home = HOME_INIT;
	AUTO_PTR(store) s = NULL;
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	bool disk = error_is(refusal, ERROR_WORKSPACE_OVER_DISK_LIMIT);

	if (home_open(d->home, &home, err) < 0 || store_open(home.path, &s, err) < 0 ||
		query_begin(s, &t, err) < 0 || add_warnings(s, d, err) < 0 ||
		add_event(s, d, disk ? "disk_limit" : "refused", refusal->message, err) < 0)
		return -1;
	return query_commit(&t, err);
}

void ledger_refused(const struct ledger_dispatch *d, const struct error *refusal)
{
	auto_error struct error err = ERROR_INIT;

	if (!d->provider->project || of_the_store(refusal))
		return;
	if (write_refusal(d, refusal, &err) < 0)
		log_warning("the refusal is not in the journal: %s", err.message);
}

void ledger_refused_early(const char *home, const char *dir, const struct error *refusal)
{
	AUTO(provider) provider = {.project = file_resolve(dir)};
	struct ledger_dispatch d = {.home = home, .provider = &provider, .handle = ""};

	ledger_refused(&d, refusal);
}

/* Runs as their records say (include/cloop/container.h). */
#include <stdlib.h>

#include "base/mem.h"
#include "executor/rundir/record.h"
#include "lib/run.h"
#include "lib/strings.h"
#include "run/import.h"

enum { HANDLES_MAX = 100000 };

/* What a caller gets, and what its members point into. */
struct held {
	struct cloop_status shown; /* first: its address is the object's */
	json_t *record;
	char *json;
};

static enum cloop_state state_of(const json_t *record)
{
	static const struct {
		const char *word;
		enum cloop_state state;
	} states[] = {{"pending", CLOOP_STATE_PENDING}, {"running", CLOOP_STATE_RUNNING},
		{"exited", CLOOP_STATE_EXITED}, {"failed", CLOOP_STATE_FAILED},
		{"killed", CLOOP_STATE_KILLED}};
	struct text word = text_of(record_state(record));

	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (text_is(word, states[i].word))
			return states[i].state;
	return CLOOP_STATE_UNKNOWN;
}

static const char *member(const json_t *record, const char *key)
{
	return lib_text(json_get_string(record, key));
}

/* Takes a record as people see it. */
static struct cloop_status *give(json_t *record)
{
	struct held *h = mem_alloc(sizeof(*h));

	h->record = record;
	h->json = json_write(record);
	h->shown = (struct cloop_status){
		.handle = member(record, "handle"),
		.executor_id = member(record, "executor_id"),
		.state = state_of(record),
		.outcome = member(record, "outcome"),
		.exit_code = (int)json_get_int(record, "exit_code", -1),
		.signal = (int)json_get_int(record, "signal", 0),
		.project = member(record, "project"),
		.image = member(record, "image"),
		.image_digest = member(record, "image_digest"),
		.error_code = member(record, "code"),
		.error = member(record, "error"),
		.remediation = member(record, "remediation"),
		.started_at = member(record, "started_at"),
		.finished_at = member(record, "finished_at"),
		.json = h->json,
	};
	return &h->shown;
}

void cloop_status_free(struct cloop_status *status)
{
	struct held *h = (struct held *)status;

	if (!h)
		return;
	json_decref(h->record);
	free(h->json);
	free(h);
}

void cloop_statuses_free(struct cloop_status **statuses)
{
	for (struct cloop_status **s = statuses; s && *s; s++)
		cloop_status_free(*s);
	free(statuses);
}

int cloop_container_status(struct cloop_container *container, const char *handle,
	struct cloop_status **status, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	AUTO(lib_run) run = LIB_RUN_INIT;
	struct lib_call call;

	if (LIB_MISSING(e, container, status))
		return -1;
	lib_call_begin(container, NULL, &call);
	if (lib_run_open(&call, handle, &run, e) < 0)
		return -1;
	import_run(&run.home, &run.dir);
	auto_json *record = rundir_read(&run.dir, RECORD_FILE, e);
	if (!record)
		return -1;
	*status = give(record_public(record));
	return 0;
}

int cloop_container_handles(
	struct cloop_container *container, char ***handles, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	AUTO(strv) list = STRV_INIT(HANDLES_MAX);
	struct lib_call call;

	if (LIB_MISSING(e, container, handles))
		return -1;
	lib_call_begin(container, NULL, &call);
	if (executor_handles(&call.executor, call.home, &list, e) < 0)
		return -1;
	*handles = lib_strings_give(&list);
	return 0;
}

/* NULL: it went meanwhile. */
static struct cloop_status *status_of(const struct lib_call *call, const char *handle)
{
	auto_error struct error gone = ERROR_INIT;
	auto_json *record = NULL;

	if (executor_status(&call->executor, call->home, handle, &record, &gone) < 0)
		return NULL;
	return give(record_public(record));
}

int cloop_container_handle_statuses(
	struct cloop_container *container, struct cloop_status ***statuses, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	AUTO(strv) list = STRV_INIT(HANDLES_MAX);
	struct lib_call call;
	size_t n = 0;

	if (LIB_MISSING(e, container, statuses))
		return -1;
	lib_call_begin(container, NULL, &call);
	if (executor_handles(&call.executor, call.home, &list, e) < 0)
		return -1;
	struct cloop_status **v = mem_alloc((list.n + 1) * sizeof(*v));
	strv_foreach (handle, &list) {
		v[n] = status_of(&call, *handle);
		n += v[n] != NULL;
	}
	*statuses = v;
	return 0;
}

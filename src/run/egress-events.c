#include "run/egress-events.h"

#include <fcntl.h>

#include "base/json.h"
#include "base/mem.h"
#include "egress/session.h"
#include "store/query.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/log.h"

/*
 * A row takes about 0.5 ms, and who waits for the ledger gives up after 5 s: not all of a long file
 * in one transaction, and with a pause in which others get their turn.
 */
enum { BATCH_LINES = 500, PAUSE_MS = 20 };

/* ---- A line ---- */

/* Rows that a proxy writes; egress.close is ours, with the counters of the end. */
static bool is_told(struct text action)
{
	static const char *const actions[] = {"egress.connect", "egress.request",
		"egress.unauthenticated", "egress.filter_lost", "egress.restore"};

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (text_is(action, actions[i]))
			return true;
	return false;
}

/* Of a proxy's row only what it alone knows; whose row it is, the ledger says. */
static json_t *told_by(const json_t *event)
{
	static const char *const keys[] = {"time", "decision", "verdict", "actor", "host", "port",
		"address", "bytes_up", "bytes_down", "reason", "lost", "count"};
	json_t *told = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		json_t *value = json_object_get(event, keys[i]);
		if (value)
			json_object_set(told, keys[i], value);
	}
	return told;
}

static int take_line(
	struct store *s, const struct egress_row *r, struct text line, struct error *err)
{
	auto_error struct error ignored = ERROR_INIT;
	auto_json *event = json_read(line, EGRESS_EVENT_MAX, "an event", ERROR_IO, &ignored);
	struct text action = json_get_text(event, "action");

	if (!is_told(action))
		return 0;
	auto_free char *word = mem_strndup(action.p, action.len);
	return egress_row_audit(s, r, word, "proxy", told_by(event), err);
}

/* ---- The file ---- */

/* How much of it is taken. */
struct taking {
	bool whole;
	size_t most; /* lines */
	size_t bytes;
};

static int take_lines(struct store *s, const struct egress_row *r, struct text fresh,
	struct taking *t, struct error *err)
{
	struct text rest = fresh, line;

	while (t->most > 0 && text_split(&rest, '\n', &line)) {
		bool ended = rest.p != NULL;
		if (!ended && !t->whole)
			break;
		if (line.len > 0 && take_line(s, r, line, err) < 0)
			return -1;
		t->bytes += line.len + ended;
		t->most--;
	}
	return 0;
}

static int take(struct store *s, const struct rundir *run, const struct egress_row *r,
	struct taking *t, struct error *err)
{
	AUTO(str) bytes = STR_INIT(EGRESS_EVENTS_MAX + 1);

	/* As far as it could be read; a file that is too long is no reason to lose the rest. */
	(void)!file_read_at(run->fd, EGRESS_EVENTS_FILE, EGRESS_EVENTS_MAX, &bytes);
	if (r->events_read < 0 || (int64_t)bytes.len <= r->events_read)
		return 0;
	struct text all = {str_text(&bytes), bytes.len};
	if (take_lines(s, r, text_after(all, (size_t)r->events_read), t, err) < 0)
		return -1;
	fault_hit("events:rows");
	return store_egress_session_note_events(s, r->id, r->events_read + (int64_t)t->bytes, err);
}

int egress_events_take(struct store *s, const struct rundir *run, const struct egress_row *r,
	bool whole, struct error *err)
{
	return take(s, run, r, &(struct taking){.whole = whole, .most = SIZE_MAX}, err);
}

/* ---- While it lives ---- */

static bool has_more(const struct rundir *run, const struct egress_row *r)
{
	struct stat st;

	return fstatat(run->fd, EGRESS_EVENTS_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_size > r->events_read;
}

/* Read anew, since another may have been at it. 1: there may be more. */
static int take_some(struct store *s, const struct rundir *run, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	AUTO(egress_row) r = {.id = NULL};
	struct taking some = {.most = BATCH_LINES};

	if (query_begin(s, &t, err) < 0)
		return -1;
	fault_hit("events:begin");
	int none = store_egress_session_show_run(s, run->handle, egress_row_read, &r, err);
	if (none != 0)
		return none < 0 ? -1 : 0;
	if (take(s, run, &r, &some, err) < 0)
		return -1;
	fault_hit("events:noted");
	if (query_commit(&t, err) < 0)
		return -1;
	fault_hit("events:committed");
	return some.most == 0;
}

int egress_events_import(
	struct store *s, const struct home *home, const char *handle, struct error *err)
{
	auto_error struct error gone = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;
	AUTO(egress_row) r = {.id = NULL};
	int none = store_egress_session_show_run(s, handle, egress_row_read, &r, err);

	if (none != 0)
		return none;
	if (rundir_open(home, handle, &run, &gone) < 0 || !has_more(&run, &r))
		return 0;
	int more = take_some(s, &run, err);
	for (; more > 0; more = take_some(s, &run, err))
		clock_sleep_ms(PAUSE_MS);
	return more;
}

static void collect(void *data, const struct store_egress_session *e)
{
	auto_free char *handle = mem_strndup(e->run.p, e->run.len);

	(void)!strv_add(data, handle);
}

void egress_events_import_live(struct store *s, const struct home *home)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) handles = STRV_INIT(RUNDIR_RUNS_MAX);
	int r = store_egress_session_list_live(s, collect, &handles, &err);

	for (size_t i = 0; r >= 0 && i < handles.n; i++)
		r = egress_events_import(s, home, handles.v[i], &err);
	if (r < 0)
		log_warning("what proxies of runs told last is not in the audit trail yet: %s",
			err.message);
}

/*
 * What may be left of a process that was killed, by when that was:
 *
 *     before the claim was committed    a lock file that nobody holds: removed
 *     … its run's first record          a claim that nobody holds, and no run with it: pending
 *     … the run is in the row           the same, and a run whose record names the claim
 *     later                             the run, which is imported when it has ended
 *
 * A process makes its run's directory and first record itself, so once its lock is free, the runs
 * that name its claim are all there will ever be: one or none.
 */
#include "run/claimed-task.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/rundir/record.h"
#include "run/import.h"
#include "store/journal.h"
#include "store/query.h"
#include "store/task.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/lockfile.h"
#include "sys/log.h"

enum { CLAIM_BYTES = (TASK_CLAIM_SIZE - 1) / 2, LOCK_MS = 5000 };

static int open_claims(const struct home *home, struct error *err)
{
	return file_open_folder(home->path, "claims", true, err);
}

void claimed_task_done(struct claimed_task *t)
{
	if (t->lock >= 0) {
		unlinkat(t->folder, t->attempt.claim, 0);
		close(t->lock);
	}
	cleanup_fd(&t->folder);
	free(t->title);
	strv_done(&t->argv);
	*t = CLAIMED_TASK_INIT;
}

/* A name of its own, locked before anybody can read it in a row. */
static int make_claim(const struct home *home, struct claimed_task *t, struct error *err)
{
	unsigned char random[CLAIM_BYTES];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return error_set(err, ERROR_IO, "reading random bytes");
	hex_encode(random, sizeof(random), t->attempt.claim);
	t->folder = open_claims(home, err);
	if (t->folder < 0)
		return -1;
	int64_t until = clock_boottime_ms() + LOCK_MS;
	/* Who sweeps may hold it for a moment. */
	int r = lockfile_wait(t->folder, t->attempt.claim, until, -1, &t->lock, err);
	return r > 0 ? error_set(err, ERROR_INTERNAL, "a new claim is locked") : r;
}

/* Locks of processes that were killed before they could remove them. */
static void sweep(const struct home *home)
{
	auto_error struct error err = ERROR_INIT;
	int claims = openat(home->fd, "claims", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = claims >= 0 ? fdopendir(claims) : NULL;

	if (!dir)
		return;
	for (struct dirent *e; (e = readdir(dir));) {
		auto_fd int lock = -1;
		if (text_is_hex(text_of(e->d_name), TASK_CLAIM_SIZE - 1) &&
			lockfile_try(claims, e->d_name, &lock, &err) == 0)
			unlinkat(claims, e->d_name, 0);
	}
	closedir(dir);
}

struct wanted {
	struct claimed_task *task;
	enum store_task_state state;
	bool readable;
};

static void keep(void *data, const struct store_task *row)
{
	struct wanted *w = data;
	auto_error struct error ignored = ERROR_INIT;

	w->state = row->state;
	w->task->title = mem_strndup(row->title.p, row->title.len);
	if (!row->argv.p)
		return;
	auto_json *argv = json_read(row->argv, row->argv.len, "argv", ERROR_IO, &ignored);
	w->readable = argv && json_exact_list_bytes(argv, &w->task->argv) == 0;
}

static int refuse_state(
	struct store *s, const char *project, int64_t id, struct claimed_task *t, struct error *err)
{
	struct wanted w = {t, STORE_TASK_PENDING, true};

	int r = store_task_show(s, project, id, keep, &w, err);
	if (r > 0)
		return error_set(err, ERROR_TASK_NOT_FOUND, "%s has no task %lld",
			quoted_string(project), (long long)id);
	return r < 0 ? -1
		     : error_set(err, ERROR_TASK_STATE, "task %lld is %s", (long long)id,
			       store_task_state_text(w.state));
}

int claimed_task_take(const struct home *home, const char *project, int64_t id,
	struct claimed_task *ret, struct error *err)
{
	AUTO_PTR(store) s = NULL;
	struct wanted w = {ret, STORE_TASK_PENDING, true};

	if (store_open(home->path, &s, err) < 0 || make_claim(home, ret, err) < 0)
		return -1;
	fault_hit("task:lock");
	int r = store_task_claim(s, project, id, ret->attempt.claim, &ret->attempt.id, err);
	fault_hit("task:claim");
	if (r > 0)
		return id == 0 ? CLAIMED_TASK_NONE : refuse_state(s, project, id, ret, err);
	if (r < 0 || store_task_show(s, project, ret->attempt.id, keep, &w, err) != 0)
		return -1;
	if (!w.readable) {
		claimed_task_give_back(home, ret, "its command cannot be read");
		return error_set(err, ERROR_TASK_STATE, "the command of task %lld cannot be read",
			(long long)ret->attempt.id);
	}
	return 0;
}

void claimed_task_give_back(const struct home *home, const struct claimed_task *t, const char *note)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	struct store_task_end end = {
		t->attempt.id, t->attempt.claim, NULL, STORE_TASK_PENDING, note};

	if (store_open(home->path, &s, &err) < 0 || store_task_end(s, &end, &err) < 0)
		log_warning("task %lld: %s", (long long)t->attempt.id, err.message);
}

/* A running task as its row says. */
struct attempt {
	int64_t id;
	char *project, *claim, *run;
};

struct attempts {
	struct attempt *v;
	size_t n;
};

static void attempts_done(struct attempts *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].project);
		free(l->v[i].claim);
		free(l->v[i].run);
	}
	free(l->v);
}

static void add_attempt(void *data, const struct store_task *row)
{
	struct attempts *l = data;

	l->v = mem_grow(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = (struct attempt){
		.id = row->id,
		.project = mem_strndup(row->project.p, row->project.len),
		.claim = row->claim.p ? mem_strndup(row->claim.p, row->claim.len) : NULL,
		.run = row->run.p ? mem_strndup(row->run.p, row->run.len) : NULL,
	};
}

/* 1 it does, 0, -1: that cannot be told. */
static int names_claim(
	const struct home *home, const char *handle, const char *claim, struct error *err)
{
	auto_error struct error why = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	int gone = rundir_look(home, handle, &run, err);
	if (gone != 0)
		return gone < 0 ? -1 : 0;
	auto_json *record = rundir_read(&run, RECORD_FILE, &why);
	const char *named = json_get_string(json_object_get(record, "supervision"), "task_claim");
	return named && strcmp(named, claim) == 0;
}

/* Caller frees. NULL: no run names the claim; -1: that cannot be told. */
static int find_run(const struct home *home, const char *claim, char **ret, struct error *err)
{
	AUTO(strv) handles = STRV_INIT(RUNDIR_RUNS_MAX);

	*ret = NULL;
	if (rundir_handles(home, &handles, err) < 0)
		return -1;
	strv_foreach (handle, &handles) {
		int named = names_claim(home, *handle, claim, err);
		if (named > 0)
			*ret = mem_strdup(*handle);
		if (named != 0)
			return named < 0 ? -1 : 0;
	}
	return 0;
}

static int end_attempt(struct store *s, const struct attempt *a, enum store_task_state state,
	const char *note, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	struct store_task_end end = {a->id, a->claim, a->run, state, note};
	auto_free char *message = mem_printf(
		"task %lld is %s: %s", (long long)a->id, store_task_state_text(state), note);
	struct store_event event = {a->project, "task.finish", a->run, a->id, message, 0};

	if (query_begin(s, &t, err) < 0)
		return -1;
	int r = store_task_end(s, &end, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	return store_journal_add(s, &event, err) < 0 ? -1 : query_commit(&t, err);
}

/* Nobody has linked a run. */
static int settle_claim(const struct home *home, struct store *s, int claims,
	const struct attempt *a, struct error *err)
{
	auto_free char *run = NULL;

	int held = lockfile_held(claims, a->claim, err);
	if (held != 0)
		return held < 0 ? -1 : 0;
	if (find_run(home, a->claim, &run, err) < 0)
		return -1;
	if (run)
		return store_task_link(s, a->claim, run, err) < 0 ? -1 : 0;
	return end_attempt(s, a, STORE_TASK_PENDING,
		"the cloop that had taken it ended before its run began", err);
}

/* Its run is there, or what is left of it. */
static int settle_run(
	const struct home *home, struct store *s, const struct attempt *a, struct error *err)
{
	auto_error struct error why = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	int gone = rundir_look(home, a->run, &run, err);
	if (gone != 0)
		return gone < 0 ? -1 : end_attempt(s, a, STORE_TASK_FAILED, "its run is gone", err);
	auto_json *record = rundir_read(&run, RECORD_FILE, &why);
	if (record && !record_final(record))
		return 0;
	/* One that was made anew knows of no task. */
	if (record && json_get_int(record, "task_id", 0) != a->id)
		return end_attempt(s, a, STORE_TASK_FAILED,
			"its run was lost, and with the record how far it came", err);
	/* In a ledger that was put back: it is taken over again. */
	if (record && rundir_imported(&run) && unlinkat(run.fd, RUNDIR_IMPORTED_FILE, 0) == 0)
		import_run(home, &run);
	if (record || rundir_supervised(&run, &why) != 0)
		return 0;
	return end_attempt(s, a, STORE_TASK_FAILED, "the record of its run cannot be read", err);
}

void claimed_task_settle_all(const struct home *home)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	AUTO(attempts) all = {NULL, 0};

	sweep(home);
	int r = store_open_existing(home->path, &s, &err);
	if (r == 0)
		r = store_task_running(s, add_attempt, &all, &err);
	if (r > 0 || (r == 0 && all.n == 0))
		return;
	auto_fd int claims = r < 0 ? -1 : open_claims(home, &err);
	if (claims < 0) {
		log_warning("tasks are not looked after: %s", err.message);
		return;
	}
	for (size_t i = 0; i < all.n; i++) {
		const struct attempt *a = &all.v[i];
		auto_error struct error one = ERROR_INIT;
		r = a->run ? settle_run(home, s, a, &one) : settle_claim(home, s, claims, a, &one);
		if (r < 0)
			log_warning("task %lld: %s", (long long)a->id, one.message);
	}
}

/*
 * Which runs are the oldest finished ones, without reading every record at every start. A run that
 * was found finished stays finished, so it is kept in <home>/finished-runs (a handle and when it
 * was made, a line each) and only runs that are not there are looked at: usually the last one. The
 * file is a memory, not a source: without it, or with any line of it gone, records are read again,
 * and a run is looked at once more before it is removed.
 */
#include "executor/rundir/prune.h"

#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "executor/rundir/record.h"
#include "executor/rundir/stage-record.h"
#include "sys/file.h"
#include "sys/log.h"

#define MEMORY_FILE "finished-runs"
enum { LINE_MAX = HANDLE_SIZE + 24, NS = 1000000000 };

struct run {
	char handle[HANDLE_SIZE];
	uint64_t made_ns;
};

struct runs {
	struct run *v;
	size_t n, cap;
};

static void runs_done(struct runs *l)
{
	free(l->v);
}

static void add(struct runs *l, const char *handle, uint64_t made_ns)
{
	if (l->n == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 2 * RUNDIR_FINISHED_KEPT;
		l->v = mem_grow(l->v, l->cap, sizeof(*l->v));
	}
	memcpy(l->v[l->n].handle, handle, HANDLE_SIZE);
	l->v[l->n++].made_ns = made_ns;
}

static int by_handle(const void *a, const void *b)
{
	return memcmp(a, b, HANDLE_SIZE);
}

static int by_age(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->made_ns != y->made_ns)
		return x->made_ns < y->made_ns ? -1 : 1;
	return strcmp(y->handle, x->handle);
}

/* Sorted by handle; a line that is not of the form is no line. */
static void read_memory(const struct home *h, struct runs *ret)
{
	AUTO(str) bytes = STR_INIT(RUNDIR_RUNS_MAX * LINE_MAX);
	struct text line;
	uint64_t made;

	if (file_read_at(h->fd, MEMORY_FILE, RUNDIR_RUNS_MAX * LINE_MAX - 1, &bytes) != 0)
		return;
	struct text rest = {str_text(&bytes), bytes.len};
	while (text_split(&rest, '\n', &line)) {
		char handle[HANDLE_SIZE] = "";
		if (line.len <= HANDLE_SIZE || line.p[HANDLE_SIZE - 1] != ' ' ||
			num_parse(text_after(line, HANDLE_SIZE), UINT64_MAX, &made) != NUM_OK)
			continue;
		memcpy(handle, line.p, HANDLE_SIZE - 1);
		add(ret, handle, made);
	}
	if (ret->n > 1)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_handle);
}

static void write_memory(const struct home *h, const struct run *v, size_t n)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) text = STR_INIT(RUNDIR_RUNS_MAX * LINE_MAX);

	for (size_t i = 0; i < n; i++)
		str_addf(&text, "%s %llu\n", v[i].handle, (unsigned long long)v[i].made_ns);
	if (file_replace_at(h->fd, MEMORY_FILE, 0600, (struct text){str_text(&text), text.len},
		    false, &err) < 0)
		log_debug("%s", err.message);
}

static bool finished(const struct home *h, const char *handle)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	if (rundir_open(h, handle, &run, &err) < 0)
		return false;
	auto_json *record = rundir_read(&run, RECORD_FILE, &err);
	return record && record_final(record) && !rundir_has_leftovers(&run) &&
	       rundir_imported(&run) && !stage_record_exists(h, handle) &&
	       rundir_supervised(&run, &err) == 0;
}

/* The finished ones of these handles. */
static void find_finished(const struct home *h, const struct strv *handles, struct runs *ret)
{
	AUTO(runs) known = {NULL, 0, 0};

	read_memory(h, &known);
	strv_foreach (handle, handles) {
		const struct run *k =
			known.n ? bsearch(*handle, known.v, known.n, sizeof(*known.v), by_handle)
				: NULL;
		if (k) {
			add(ret, k->handle, k->made_ns);
		} else if (finished(h, *handle)) {
			struct timespec made = rundir_made_at(h, *handle);
			add(ret, *handle, (uint64_t)made.tv_sec * NS + (uint64_t)made.tv_nsec);
		}
	}
	if (ret->n > 1)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_age);
}

/* Those that stay are moved to the front; how many there are. */
static size_t remove_oldest(const struct home *h, struct runs *all)
{
	size_t due = all->n > RUNDIR_FINISHED_KEPT ? all->n - RUNDIR_FINISHED_KEPT : 0, kept = 0;

	for (size_t i = 0; i < all->n; i++) {
		auto_error struct error err = ERROR_INIT;
		const struct run *run = &all->v[i];
		if (i < due && finished(h, run->handle)) {
			if (rundir_remove(h, run->handle, &err) == 0)
				continue;
			log_warning("removing the old run %s: %s", run->handle, err.message);
		} else if (i < due) {
			continue;
		}
		all->v[kept++] = *run;
	}
	return kept;
}

void prune_runs(const struct home *h)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) handles = STRV_INIT(RUNDIR_RUNS_MAX);
	AUTO(runs) all = {NULL, 0, 0};

	if (rundir_handles(h, &handles, &err) < 0 || handles.n <= RUNDIR_FINISHED_KEPT)
		return;
	find_finished(h, &handles, &all);
	size_t kept = remove_oldest(h, &all);
	write_memory(h, all.v, kept);
}

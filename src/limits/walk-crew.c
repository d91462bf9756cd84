/*
 * Theory of operation. A large tree is gone through by several threads: looking at a name that the
 * kernel has in memory is all CPU time, and du has one CPU. Each is a walker of its own, depth
 * first; only counted links, filesystems and what is said here are shared. Whoever has nothing to
 * do says so (hungry) and waits. A busy walker that sees it makes a job: half of the directories it
 * has still to enter at the shallowest level that has any, for they are the largest trees; else
 * most of the rest of the piece of a listing that it is at. So both a tree of small directories and
 * a single large one are shared. There is one job at a time, which bounds what jobs take. When
 * everybody waits all is done.
 *
 * The one who began has the helpers made once it has seen so many names that they pay for
 * themselves: small trees have no thread and an order. A thread that cannot be had is done without.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "limits/walk-internal.h"
#include "sys/thread.h"
#include "sys/clock.h"

enum {
	STACK_SIZE = 256 << 10,
	ALONE = 4096, /* names before there are helpers */
	PAUSE = 64,   /* names between two jobs; twice that for each small job in a row */
	SMALL_MAX = 7,
	SMALL = 256,       /* names of a job that hardly pays for waking somebody */
	LIST_LEAST = 2048, /* bytes of a listing that are worth a job */
};

static void job_free(struct walk_job *job)
{
	if (!job)
		return;
	if (job->dir.fd >= 0)
		close(job->dir.fd);
	free(job->path);
	free(job->names);
	free(job->list);
	free(job);
}

/* ---- whoever has work ---- */

static bool wanted(const struct walker *w)
{
	const struct walk_crew *crew = &w->all->crew;

	if (!atomic_load_explicit(&crew->hungry, memory_order_relaxed))
		return false;
	unsigned small = atomic_load_explicit(&crew->small, memory_order_relaxed);
	return w->ticks - w->given >= (unsigned)PAUSE << small;
}

/* In the i-th of the directories on the way; NULL: there is no descriptor for it. */
static struct walk_job *job_new(const struct walker *w, size_t i)
{
	const struct walk_dir *d = &w->dirs[i];
	size_t path_len = i + 1 < w->depth ? w->dirs[i + 1].name : w->path.len;
	int fd = fcntl(d->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return NULL;
	struct walk_job *job = mem_alloc(sizeof(*job));
	job->dir = *d;
	job->dir.fd = fd;
	job->dir.listed = true;
	job->dir.offset = 0;
	job->above = w->above + i;
	job->path = mem_alloc(path_len + 1);
	job->path_len = path_len;
	if (path_len > 0)
		memcpy(job->path, w->path.data, path_len);
	return job;
}

/* NULL afterwards if somebody else was faster. */
static bool offer(struct walker *w, struct walk_job *job)
{
	struct walk_crew *crew = &w->all->crew;

	pthread_mutex_lock(&w->all->lock);
	bool taken = crew->job == NULL;
	if (taken) {
		crew->job = job;
		atomic_store(&crew->hungry, false);
		pthread_cond_signal(&crew->changed);
	}
	pthread_mutex_unlock(&w->all->lock);
	w->given = w->ticks;
	return taken;
}

/* Where names of the i-th directory end. */
static size_t names_end(const struct walker *w, size_t i)
{
	return i + 1 < w->depth ? w->dirs[i + 1].names : w->names.len;
}

/* The shallowest open directory with names; depth: none. */
static size_t first_with_names(const struct walker *w)
{
	size_t i = w->shallowest;

	while (i < w->depth && names_end(w, i) == w->dirs[i].names)
		i++;
	return i;
}

/* The second half, of whole names, begins here. */
static size_t half(const struct walker *w, size_t begin, size_t end)
{
	size_t at = begin + (end - begin) / 2;

	while (at > begin && w->names.data[at - 1] != '\0')
		at--;
	return at;
}

static void take_away(struct walker *w, size_t i, size_t from, size_t to)
{
	memmove(w->names.data + from, w->names.data + to, w->names.len - to);
	w->names.len -= to - from;
	for (size_t k = i + 1; k < w->depth; k++)
		w->dirs[k].names -= to - from;
}

void walk_crew_share_names(struct walker *w)
{
	if (!wanted(w))
		return;
	size_t i = first_with_names(w);
	if (i == w->depth)
		return;
	size_t to = names_end(w, i), from = half(w, w->dirs[i].names, to);
	/* Something is left for this one. */
	if (i + 1 == w->depth && from == w->dirs[i].names)
		return;
	struct walk_job *job = job_new(w, i);
	if (!job)
		return;
	job->names_len = to - from;
	job->names = mem_alloc(job->names_len);
	memcpy(job->names, w->names.data + from, job->names_len);
	if (offer(w, job))
		take_away(w, i, from, to);
	else
		job_free(job);
}

/* A third of what begins here, of whole entries: reading the next piece takes its time, too. */
static size_t third(const char *rest, size_t n)
{
	size_t at = 0;

	while (at < n / 3)
		at += ((const struct dirent64 *)(const void *)(rest + at))->d_reclen;
	return at;
}

size_t walk_crew_share_list(struct walker *w, const char *rest, size_t n)
{
	if (!wanted(w) || n < LIST_LEAST)
		return n;
	if (first_with_names(w) < w->depth) {
		walk_crew_share_names(w);
		return n;
	}
	struct walk_job *job = job_new(w, w->depth - 1);
	if (!job)
		return n;
	size_t ours = third(rest, n);
	job->list_len = n - ours;
	job->list = mem_alloc(job->list_len);
	memcpy(job->list, rest + ours, job->list_len);
	if (offer(w, job))
		return ours;
	job_free(job);
	return n;
}

/* ---- whoever has none ---- */

/* NULL: nobody has any, or the walk ends. */
static struct walk_job *next_job(struct walk *all)
{
	struct walk_crew *crew = &all->crew;

	pthread_mutex_lock(&all->lock);
	crew->idle++;
	while (!crew->job && !atomic_load(&crew->stop) && crew->idle <= crew->n) {
		atomic_store(&crew->hungry, true);
		pthread_cond_wait(&crew->changed, &all->lock);
	}
	struct walk_job *job = atomic_load(&crew->stop) ? NULL : TAKE_PTR(crew->job);
	if (job)
		crew->idle--;
	atomic_store(&crew->hungry, job && crew->idle > 0);
	if (!job)
		pthread_cond_broadcast(&crew->changed);
	pthread_mutex_unlock(&all->lock);
	return job;
}

/* Many small jobs in a row cost more than they bring: there are fewer of them then. */
static void judge(struct walk_crew *crew, unsigned names)
{
	unsigned small = atomic_load(&crew->small);

	if (names >= SMALL && small > 0)
		atomic_store(&crew->small, small - 1);
	else if (names < SMALL && small < SMALL_MAX)
		atomic_store(&crew->small, small + 1);
}

static void work(struct walker *w)
{
	struct walk_job *job;

	while ((job = next_job(w->all))) {
		unsigned before = w->ticks;
		walk_tree_job(w, job);
		job_free(job);
		judge(&w->all->crew, w->ticks - before);
	}
}

static void *help(void *data)
{
	struct walker *w = data;

	work(w);
	pthread_mutex_lock(&w->all->lock);
	w->all->crew.cpu_us += clock_thread_us();
	pthread_mutex_unlock(&w->all->lock);
	return NULL;
}

/* ---- the one who began ---- */

/* Nice and the I/O class are those of who began. */
static void add_helper(struct walk *all)
{
	struct walk_crew *crew = &all->crew;
	struct walker *w = mem_alloc(sizeof(*w));

	walk_tree_init(w, all);
	pthread_mutex_lock(&all->lock);
	if (thread_begin(&crew->threads[crew->n], STACK_SIZE, help, w) == 0)
		crew->helpers[crew->n++] = TAKE_PTR(w);
	pthread_mutex_unlock(&all->lock);
	if (w) {
		walk_tree_done(w);
		free(w);
	}
}

void walk_crew_join(struct walker *w)
{
	struct walk *all = w->all;
	size_t alone = all->bounds.alone ? all->bounds.alone : ALONE;

	if (w != &all->own || all->crew.tried || w->result.entries < alone)
		return;
	all->crew.tried = true;
	for (size_t i = 1; i < all->walkers; i++)
		add_helper(all);
}

static void add_up(struct walk_result *to, struct walk_result *r)
{
	to->bytes += r->bytes;
	to->entries += r->entries;
	if (to->reason == WALK_COMPLETE)
		to->reason = r->reason;
	for (size_t i = 0; i < WALK_UNREADABLE_SHOWN && r->unreadable[i]; i++)
		if (to->n_unreadable + i < WALK_UNREADABLE_SHOWN)
			to->unreadable[to->n_unreadable + i] = TAKE_PTR(r->unreadable[i]);
	to->n_unreadable += r->n_unreadable;
}

void walk_crew_finish(struct walk *all)
{
	struct walk_crew *crew = &all->crew;

	if (crew->n > 0)
		work(&all->own);
	for (size_t i = 0; i < crew->n; i++) {
		(void)!pthread_join(crew->threads[i], NULL);
		add_up(&all->own.result, &crew->helpers[i]->result);
		walk_tree_done(crew->helpers[i]);
		free(TAKE_PTR(crew->helpers[i]));
	}
	job_free(TAKE_PTR(crew->job));
	crew->n = crew->idle = 0;
	crew->tried = false;
	atomic_store(&crew->small, 0);
	atomic_store(&crew->hungry, false);
	atomic_store(&crew->stop, false);
}

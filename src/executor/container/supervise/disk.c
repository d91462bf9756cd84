/*
 * Theory of operation. A timer starts a walk; its thread measures, with a second one beside it
 * where the tree is large, and writes to an eventfd; the loop does what disk_loop says. Thread and
 * loop share one struct disk_walk, which the loop does not touch while the thread runs. At the end
 * of the run a walk under way is told to stop and left to itself: whoever lets go last frees it.
 *
 * A breach is in the run directory before the kill, so a new supervisor that finds it without a
 * request of its own carries on where the old one died.
 */
#include "executor/container/supervise/disk.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "executor/container/supervise/supervisor.h"
#include "limits/disk-breach.h"
#include "limits/disk-limit.h"
#include "limits/render.h"
#include "sys/cgroup-processes.h"
#include "sys/clock.h"
#include "sys/descendants.h"
#include "sys/fault.h"
#include "sys/thread.h"

enum {
	NICE = 19,
	IO_WHO_PROCESS = 1,
	IO_CLASS_IDLE = 3 << 13,
	STACK_SIZE = 256 << 10,
	TARGETS_MAX = 64,
	NS_PER_S = 1000000000,
	QUICK_MIN_MS = 200,
	QUICK_MAX_MS = 1000,
};

#define BASE_ENTRIES "disk_base_entries"

struct disk_walk {
	struct supervisor *s; /* the loop's only */
	struct disk_question question;
	uint64_t limit_mb;
	bool standalone;
	pid_t init; /* what is below it is the run's; standalone: what is in `group` */
	int group;  /* directory; -1 = not known */
	const char *targets[TARGETS_MAX + 1];
	char *names[TARGETS_MAX]; /* what targets point to */
	int done;                 /* eventfd */
	atomic_bool cancelled;
	atomic_bool measured; /* rc, cost_ms and found are the loop's from then on */
	atomic_int owners;
	int64_t begun;
	int rc;
	int64_t cost_ms;
	struct disk_measured found;
};

static void walk_drop(struct disk_walk *w)
{
	if (atomic_fetch_sub(&w->owners, 1) > 1)
		return;
	disk_measured_done(&w->found);
	for (size_t i = 0; i < TARGETS_MAX; i++)
		free(w->names[i]);
	if (w->done >= 0)
		close(w->done);
	if (w->question.project >= 0)
		close(w->question.project);
	if (w->group >= 0)
		close(w->group);
	free(w);
}

/* ---- the thread ---- */

static bool is_cancelled(void *data)
{
	const struct disk_walk *w = data;

	return atomic_load(&w->cancelled);
}

/* Best effort: a kernel or a policy that does not want it loses nothing but politeness. */
static void give_way(void)
{
	(void)!setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	(void)!syscall(SYS_ioprio_set, IO_WHO_PROCESS, 0, IO_CLASS_IDLE);
}

/* Not the init: it is ours, opens nothing there, and nobody but root may look into it. */
static void find_below_init(const struct disk_walk *w, pid_t *pids, struct walk_open *ret)
{
	AUTO(descendants) below = DESCENDANTS_INIT;

	descendants_find(w->init, &below);
	for (size_t i = 0; i < below.n && i < WALK_OPEN_PROCESSES; i++)
		pids[ret->n++] = below.v[i].pid;
	ret->init = w->init;
	ret->more = w->init <= 0 || ret->n < below.n;
}

/*
 * The sandbox itself and the process that opens files for it, which is not below it. They have
 * mounts of their own, so the filesystem is all that tells a file of the workspace.
 */
static void find_in_group(const struct disk_walk *w, pid_t *pids, struct walk_open *ret)
{
	ret->more = cgroup_processes(w->group, pids, WALK_OPEN_PROCESSES, &ret->n) != 0;
}

static void measure_once(struct disk_walk *w)
{
	auto_error struct error err = ERROR_INIT;
	auto_free pid_t *pids = mem_alloc(WALK_OPEN_PROCESSES * sizeof(*pids));
	struct walk_open open = {.pids = pids, .targets = w->targets};

	if (w->standalone)
		find_in_group(w, pids, &open);
	else
		find_below_init(w, pids, &open);
	w->question.open = &open;
	int64_t cpu_us = w->found.cpu_us;
	disk_measured_done(&w->found);
	w->rc = disk_measure(&w->question, &w->found, &err);
	w->question.open = NULL;
	w->found.cpu_us += cpu_us;
}

/*
 * A file that is deleted between the walk and the look at open files counts twice: what is over the
 * limit only by open files is measured once more.
 */
static void *measure(void *data)
{
	struct disk_walk *w = data;
	const uint64_t one = 1;

	give_way();
	measure_once(w);
	if (w->rc == 0 && disk_limit_over(w->found.bytes, w->limit_mb) &&
		!disk_limit_over(w->found.bytes - w->found.open_bytes, w->limit_mb))
		measure_once(w);
	w->cost_ms = disk_schedule_cost(clock_boottime_ms() - w->begun, w->found.cpu_us);
	atomic_store(&w->measured, true);
	(void)!write(w->done, &one, sizeof(one));
	walk_drop(w);
	return NULL;
}

static int start_thread(struct disk_walk *w)
{
	atomic_store(&w->owners, 2);
	if (thread_begin(NULL, STACK_SIZE, measure, w) == 0)
		return 0;
	atomic_store(&w->owners, 1);
	return -1;
}

/* ---- the loop ---- */

static void on_timer(void *data);

static void measure_after(struct supervisor *s, int64_t at_ms)
{
	loop_remove(s->disk.timer);
	s->disk.timer = loop_at(s->loop, at_ms, on_timer, s);
}

static json_t *usage(struct supervisor *s)
{
	return json_object_get(s->record, "usage");
}

/* What counts as the workspace inside: it, and the file's mounts, whose sources lie in it. */
static void set_targets(const struct supervisor *s, struct disk_walk *w)
{
	size_t n = 0;

	for (size_t i = 0; i < s->plan.n_mounts && n < TARGETS_MAX; i++) {
		const struct plan_mount *m = &s->plan.mounts[i];
		bool file = m->kind == PLAN_MOUNT_GIVEN || m->kind == PLAN_MOUNT_MAKE;
		if (!file || m->read_only || strncmp(m->target, "/repos/", 7) == 0)
			continue;
		w->names[n] = mem_strdup(m->target);
		w->targets[n] = w->names[n];
		n++;
	}
}

static void on_measured(void *data, uint32_t events);

/* The group that counts the run's memory counts its open files, too; -1: there is none. */
static int group_of(const struct supervisor *s)
{
	return s->plan.standalone && s->cgroup_ours
		       ? fcntl(s->cgroup.dirs[CGROUP_MEMORY], F_DUPFD_CLOEXEC, 0)
		       : -1;
}

/* NULL: it could not be started. */
static struct disk_walk *walk_start(struct supervisor *s)
{
	const struct plan_disk *plan = &s->plan.disk;
	struct disk_walk *w = mem_alloc(sizeof(*w));
	int64_t now = clock_boottime_ms();

	atomic_init(&w->owners, 1);
	w->s = s;
	w->limit_mb = plan->limit_mb;
	w->init = s->init_pid;
	w->standalone = s->plan.standalone;
	w->group = group_of(s);
	w->begun = now;
	w->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->question = (struct disk_question){
		.project = fcntl(s->disk.project, F_DUPFD_CLOEXEC, 0),
		.has_baseline = plan->has_baseline,
		.baseline = plan->baseline,
		.bounds = {.deadline_ms = now + s->disk.loop.schedule.deadline_ms,
			.cancelled = is_cancelled,
			.data = w},
	};
	set_targets(s, w);
	s->disk.event = w->done < 0 || w->question.project < 0
				? NULL
				: loop_watch(s->loop, w->done, EPOLLIN, on_measured, s);
	if (s->disk.event && start_thread(w) == 0)
		return w;
	loop_remove(TAKE_PTR(s->disk.event));
	walk_drop(w);
	return NULL;
}

static void on_timer(void *data)
{
	struct supervisor *s = data;

	s->disk.timer = NULL;
	if (!supervisor_released(s) || s->disk.walk)
		return;
	s->disk.walk = walk_start(s);
	if (!s->disk.walk)
		measure_after(s, clock_boottime_ms() + s->disk.loop.schedule.max_ms);
}

static void set_state(struct supervisor *s)
{
	json_object_set_new(
		usage(s), "disk_state", json_string(s->disk.unknown.unknown ? "unknown" : "ok"));
}

/* Once: nobody knows how much the run uses. */
static void tell_unknown(struct supervisor *s, const char *reason, char *const *paths)
{
	AUTO(str) list = STR_INIT(WALK_UNREADABLE_SHOWN * (WALK_PATH_SHOWN + 8));

	for (size_t i = 0; paths && i < WALK_UNREADABLE_SHOWN && paths[i]; i++) {
		str_add_text(&list, i == 0 ? ": " : ", ");
		text_quote(&list, text_of(paths[i]), WALK_PATH_SHOWN / 4);
	}
	supervisor_note(s, "disk limit: how much the workspace holds is not known (%s)%s", reason,
		str_text(&list));
	record_warn(s->record, "disk_unknown", "how much the workspace holds is not known (%s)%s",
		reason, str_text(&list));
	set_state(s);
	supervisor_persist(s, false);
}

/* Names that were found first, by the start or the first complete sample, are not the run's. */
static bool too_many_names(struct supervisor *s, const struct disk_measured *m)
{
	struct disk_watch *d = &s->disk;

	if (!d->has_base && m->reason == WALK_COMPLETE) {
		d->has_base = true;
		d->base_entries = m->entries;
		json_object_set_new(record_supervision(s->record), BASE_ENTRIES,
			json_integer((json_int_t)m->entries));
		supervisor_persist(s, false);
	}
	return d->has_base && m->entries > d->base_entries &&
	       m->entries - d->base_entries > disk_limit_entries(s->plan.disk.limit_mb);
}

/* What the start found, else what a supervisor before this one found first. */
static void restore_base(struct supervisor *s)
{
	int64_t first = json_get_int(record_supervision(s->record), BASE_ENTRIES, -1);

	s->disk.has_base = s->plan.disk.has_start || first >= 0;
	s->disk.base_entries =
		s->plan.disk.has_start ? s->plan.disk.start_entries : (uint64_t)first;
}

static void take_in(struct supervisor *s, const struct disk_measured *m)
{
	struct disk_watch *d = &s->disk;
	bool was = d->unknown.unknown;

	if (m->reason != WALK_COMPLETE) {
		if (disk_unknown_incomplete(&d->unknown, m->reason == WALK_UNREADABLE, m->bytes,
			    s->plan.disk.limit_mb))
			tell_unknown(s, walk_reason_text(m->reason), m->unreadable);
		return;
	}
	disk_unknown_complete(&d->unknown);
	json_object_set_new(usage(s), "disk_used_mb",
		json_integer((json_int_t)disk_limit_used_mb((int64_t)m->bytes)));
	set_state(s);
	if (was)
		supervisor_persist(s, false);
}

/* On record before the kill, in a field of its own. */
static void stop_it(struct supervisor *s, const struct disk_measured *m, bool by_names)
{
	auto_free char *path = disk_breach_path(text_of(s->plan.project));
	auto_free char *limit = render_mb(s->plan.disk.limit_mb);
	struct disk_breach b = {
		.used_bytes = m->bytes,
		.limit_mb = s->plan.disk.limit_mb,
		.source = s->plan.disk.source,
		.path = path,
		.measured_at = clock_realtime_ns() / NS_PER_S,
	};

	fault_hit("disk:over");
	if (by_names) {
		b.entries = m->entries - s->disk.base_entries;
		b.entries_limit = disk_limit_entries(b.limit_mb);
		supervisor_note(s,
			"disk limit: the run has added %llu names, and %llu are allowed: stopping "
			"it",
			(unsigned long long)b.entries, (unsigned long long)b.entries_limit);
	} else {
		supervisor_note(s,
			"disk limit: the workspace holds %llu MB, and the limit is %s (%s): "
			"stopping the run",
			(unsigned long long)disk_limit_used_mb((int64_t)b.used_bytes), limit,
			disk_breach_origin(b.source));
	}
	json_object_set_new(record_supervision(s->record), "breach", disk_breach_to_json(&b));
	supervisor_persist(s, false);
	fault_hit("disk:breach");
	stop_request(s, "disk_limit", 0);
	/* Should it still run then, it is measured and stopped again. */
	measure_after(s, clock_boottime_ms() + s->disk.loop.schedule.min_ms);
}

static void act_on(struct supervisor *s, const struct disk_walk *w)
{
	struct disk_watch *d = &s->disk;
	int64_t now = clock_boottime_ms();
	struct disk_measure m = {
		.sample = {w->found.bytes, w->cost_ms, now},
		.incomplete = w->found.reason != WALK_COMPLETE,
		.over_names = too_many_names(s, &w->found),
		.ended = !supervisor_released(s),
	};

	struct disk_step step = disk_loop_measured(&d->loop, &m);
	if (step.action == DISK_RETURN)
		return;
	take_in(s, &w->found);
	if (step.action == DISK_BREACH)
		stop_it(s, &w->found, !disk_limit_over(w->found.bytes, s->plan.disk.limit_mb));
	else
		measure_after(s, now + step.wait_ms);
}

static void on_measured(void *data, uint32_t events)
{
	struct supervisor *s = data;
	struct disk_walk *w = TAKE_PTR(s->disk.walk);

	(void)events;
	/* Always true; it also orders what the thread wrote before what is read here. */
	assert(atomic_load(&w->measured));
	loop_remove(TAKE_PTR(s->disk.event));
	if (w->rc < 0) {
		/* The workspace cannot be opened: a lower bound of nothing. */
		w->found.reason = WALK_ERROR;
		w->rc = 0;
	}
	if (w->rc == 0)
		act_on(s, w);
	walk_drop(w);
}

int disk_open_project(const struct supervisor *s)
{
	const struct plan_disk *plan = &s->plan.disk;
	struct stat st;
	auto_fd int fd =
		s->mount_fds[0] >= 0
			? fcntl(s->mount_fds[0], F_DUPFD_CLOEXEC, 0)
			: open(s->plan.project, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (plan->inode && (st.st_dev != plan->device || st.st_ino != plan->inode))
		return -1;
	return TAKE_FD(fd);
}

static void tell_start(struct supervisor *s)
{
	const struct plan_disk *plan = &s->plan.disk;
	auto_free char *limit = render_mb(plan->limit_mb);

	if (plan->has_start) {
		uint64_t used = disk_limit_used_mb((int64_t)plan->start.bytes);
		json_object_set_new(usage(s), "disk_used_mb", json_integer((json_int_t)used));
		supervisor_note(s, "disk limit: %s, and the workspace holds %llu MB", limit,
			(unsigned long long)used);
	} else {
		supervisor_note(s,
			"disk limit: %s, and how much the workspace holds is not known until the "
			"first sample",
			limit);
	}
}

/* What a supervisor before this one found; only a complete sample ends it. */
static bool was_unknown(struct supervisor *s)
{
	return s->adopted && text_is(json_get_text(usage(s), "disk_state"), "unknown");
}

void disk_begin(struct supervisor *s)
{
	const struct plan_disk *plan = &s->plan.disk;
	struct disk_watch *d = &s->disk;
	struct disk_schedule schedule = {0};
	const struct disk_sample *start = plan->has_start && !s->adopted ? &plan->start : NULL;

	if (plan->limit_mb == 0)
		return;
	if (fault_hit("disk:quick"))
		schedule = (struct disk_schedule){.min_ms = QUICK_MIN_MS, .max_ms = QUICK_MAX_MS};
	int64_t wait = disk_loop_begin(&d->loop, schedule, plan->limit_mb, start);
	restore_base(s);
	bool told = was_unknown(s);
	d->project = disk_open_project(s);
	d->unknown.unknown = told || d->project < 0;
	if (!s->adopted)
		tell_start(s);
	if (d->project < 0) {
		if (!told)
			tell_unknown(s, walk_reason_text(WALK_MOVED), NULL);
		return;
	}
	set_state(s);
	measure_after(s, (start ? start->at_ms : clock_boottime_ms()) + wait);
	if (s->adopted && !s->why &&
		json_object_get(record_supervision(s->record), "breach") != NULL)
		stop_request(s, "disk_limit", 0);
}

void disk_end(struct supervisor *s)
{
	struct disk_watch *d = &s->disk;

	loop_remove(TAKE_PTR(d->timer));
	loop_remove(TAKE_PTR(d->event));
	if (d->walk) {
		atomic_store(&d->walk->cancelled, true);
		walk_drop(TAKE_PTR(d->walk));
	}
	if (d->project >= 0)
		close(TAKE_FD(d->project));
}

void disk_withdraw(struct supervisor *s)
{
	json_object_del(record_supervision(s->record), "breach");
}

void disk_conclude(struct supervisor *s, enum run_outcome outcome)
{
	json_t *supervision = record_supervision(s->record);
	AUTO(disk_breach) b = DISK_BREACH_INIT;
	json_t *breach = json_object_get(supervision, "breach");

	if (outcome == OUTCOME_DISK_LIMIT && disk_breach_restore(breach, &b) == 0) {
		auto_free char *text = disk_breach_text(&b);
		json_object_set(s->record, "breach", breach);
		json_object_set_new(usage(s), "disk_used_mb",
			json_integer((json_int_t)disk_limit_used_mb((int64_t)b.used_bytes)));
		json_object_set_new(s->record, "error", json_string(text));
		json_object_set_new(s->record, "remediation",
			json_string("free space in the workspace, or raise the limit, then run it "
				    "again"));
	}
	json_object_del(supervision, "breach");
}

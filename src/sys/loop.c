/*
 * Sources live in two lists: watched descriptors (unsorted) and timers (sorted by time, then by
 * age). A callback may remove any source, also one whose event lies in the same batch of
 * epoll_wait(): what is removed leaves its list at once and is marked, but its memory goes only
 * after the batch. One timerfd on CLOCK_BOOTTIME wakes the loop for the first timer; the timeout of
 * epoll_wait() would not count the time of a suspended machine.
 */
#include "sys/loop.h"

#include <assert.h>
#include <errno.h>
#include <sys/queue.h>
#include <sys/timerfd.h>

#include "base/mem.h"
#include "sys/clock.h"

enum { BATCH = 16 };

struct loop_source {
	struct loop *loop;
	LIST_ENTRY(loop_source) link;
	int fd; /* -1: a timer */
	bool removed;
	loop_io_fn *io;
	loop_timer_fn *timer;
	void *data;
	int64_t at_ms;
	uint64_t age;
};

LIST_HEAD(source_list, loop_source);

struct loop {
	int epoll;
	int clock;
	struct source_list watched, timers, removed;
	uint64_t next_age;
	int64_t armed_ms; /* what `clock` is set to; 0 = not set */
	bool stop, running;
};

struct loop *loop_new(struct error *err)
{
	auto_fd int epoll = epoll_create1(EPOLL_CLOEXEC);
	auto_fd int clock = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	struct epoll_event event = {.events = EPOLLIN};

	if (epoll < 0 || clock < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, clock, &event) < 0) {
		error_set_errno(err, ERROR_IO, errno, "cannot make an event loop");
		return NULL;
	}
	struct loop *l = mem_alloc(sizeof(*l));
	l->epoll = TAKE_FD(epoll);
	l->clock = TAKE_FD(clock);
	return l;
}

static void free_all(struct source_list *list)
{
	struct loop_source *s;

	while ((s = LIST_FIRST(list))) {
		LIST_REMOVE(s, link);
		free(s);
	}
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	assert(!l->running);
	free_all(&l->watched);
	free_all(&l->timers);
	free_all(&l->removed);
	close(l->epoll);
	close(l->clock);
	free(l);
}

struct loop_source *loop_watch(struct loop *l, int fd, uint32_t events, loop_io_fn *fn, void *data)
{
	auto_free struct loop_source *s = mem_alloc(sizeof(*s));
	struct epoll_event event = {.events = events, .data.ptr = s};

	*s = (struct loop_source){.loop = l, .fd = fd, .io = fn, .data = data};
	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		return NULL;
	LIST_INSERT_HEAD(&l->watched, s, link);
	return TAKE_PTR(s);
}

void loop_change(struct loop_source *s, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = s};

	assert(s->fd >= 0 && !s->removed);
	/* Fails only for a descriptor that was closed before its source was removed. */
	int r = epoll_ctl(s->loop->epoll, EPOLL_CTL_MOD, s->fd, &event);
	assert(r == 0);
}

static void insert_timer(struct loop *l, struct loop_source *s)
{
	struct loop_source *at, *last = NULL;

	LIST_FOREACH(at, &l->timers, link)
	{
		if (at->at_ms > s->at_ms)
			break;
		last = at;
	}
	if (last)
		LIST_INSERT_AFTER(last, s, link);
	else
		LIST_INSERT_HEAD(&l->timers, s, link);
}

struct loop_source *loop_at(struct loop *l, int64_t at_ms, loop_timer_fn *fn, void *data)
{
	struct loop_source *s = mem_alloc(sizeof(*s));

	*s = (struct loop_source){.loop = l,
		.fd = -1,
		.timer = fn,
		.data = data,
		.at_ms = at_ms,
		.age = l->next_age++};
	insert_timer(l, s);
	return s;
}

/* Out of its list; the memory goes when the round is over. */
static void retire(struct loop_source *s)
{
	LIST_REMOVE(s, link);
	LIST_INSERT_HEAD(&s->loop->removed, s, link);
	s->removed = true;
}

void loop_remove(struct loop_source *s)
{
	if (!s)
		return;
	assert(!s->removed);
	if (s->fd >= 0)
		epoll_ctl(s->loop->epoll, EPOLL_CTL_DEL, s->fd, NULL);
	struct loop *l = s->loop;
	retire(s);
	if (!l->running)
		free_all(&l->removed);
}

/* Sets the timerfd for the first timer, if that changed. */
static int arm(struct loop *l)
{
	struct loop_source *first = LIST_FIRST(&l->timers);
	/* 0 would disarm it. */
	int64_t at = !first ? 0 : first->at_ms < 1 ? 1 : first->at_ms;
	struct itimerspec when = {.it_value = {at / 1000, at % 1000 * 1000000}};

	if (at == l->armed_ms)
		return 0;
	if (timerfd_settime(l->clock, TFD_TIMER_ABSTIME, &when, NULL) < 0)
		return -1;
	l->armed_ms = at;
	return 0;
}

/* Those that were there when it began: one that a callback adds waits for the next round. */
static void run_timers(struct loop *l)
{
	int64_t now = clock_boottime_ms();
	uint64_t limit = l->next_age;
	struct loop_source *s;

	while (!l->stop && (s = LIST_FIRST(&l->timers)) && s->at_ms <= now && s->age < limit) {
		loop_timer_fn *fn = s->timer;
		void *data = s->data;
		retire(s);
		fn(data);
	}
}

static void run_events(struct loop *l, const struct epoll_event *events, int n)
{
	for (int i = 0; i < n && !l->stop; i++) {
		struct loop_source *s = events[i].data.ptr;
		if (!s)
			l->armed_ms = -1; /* it fired, and is quiet after the next setting */
		else if (!s->removed)
			s->io(s->data, events[i].events);
	}
}

static int step(struct loop *l)
{
	struct epoll_event events[BATCH];

	if (arm(l) < 0)
		return -1;
	int n = epoll_wait(l->epoll, events, BATCH, -1);
	if (n < 0)
		return errno == EINTR ? 0 : -1;
	run_events(l, events, n);
	run_timers(l);
	return 0;
}

int loop_run(struct loop *l, struct error *err)
{
	int r = 0;

	assert(!l->running);
	l->running = true;
	while (r == 0 && !l->stop && (!LIST_EMPTY(&l->watched) || !LIST_EMPTY(&l->timers))) {
		r = step(l);
		free_all(&l->removed);
	}
	l->running = l->stop = false;
	return r < 0 ? error_set_errno(err, ERROR_IO, errno, "cannot wait for events") : 0;
}

void loop_stop(struct loop *l)
{
	l->stop = true;
}

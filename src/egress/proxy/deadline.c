#include "egress/proxy/deadline.h"

#include "sys/clock.h"

static const int durations_ms[] = {
	[DEADLINE_HEAD] = 20000,
	[DEADLINE_IDLE] = 60000,
	[DEADLINE_UPSTREAM] = 60000,
	[DEADLINE_RESOLVE] = 15000,
	[DEADLINE_DIAL] = DEADLINE_DIAL_MS,
	[DEADLINE_DRAIN] = 5000,
};

void deadline_init(struct deadlines *d, struct loop *loop, deadline_fn *passed)
{
	*d = (struct deadlines){.loop = loop, .passed = passed};
	for (int i = 0; i < DEADLINE_KINDS; i++) {
		d->queues[i].all = d;
		TAILQ_INIT(&d->queues[i].list);
	}
}

void deadline_done(struct deadlines *d)
{
	for (int i = 0; i < DEADLINE_KINDS; i++)
		loop_remove(TAKE_PTR(d->queues[i].timer));
}

static void due(void *data)
{
	struct deadline_queue *q = data;
	struct deadline *first;

	q->timer = NULL;
	while ((first = TAILQ_FIRST(&q->list)) && first->at_ms <= clock_boottime_ms()) {
		deadline_disarm(q->all, first);
		q->all->passed(first->data);
	}
	if (first && !q->timer)
		q->timer = loop_at(q->all->loop, first->at_ms, due, q);
}

/* The timer stays as it is where the first one goes: it finds out when it comes. */
void deadline_arm(struct deadlines *d, struct deadline *which, enum deadline_kind kind)
{
	struct deadline_queue *q = &d->queues[kind];

	deadline_disarm(d, which);
	which->kind = kind;
	which->armed = true;
	which->at_ms = clock_boottime_ms() + durations_ms[kind];
	TAILQ_INSERT_TAIL(&q->list, which, link);
	if (!q->timer)
		q->timer = loop_at(d->loop, which->at_ms, due, q);
}

void deadline_disarm(struct deadlines *d, struct deadline *which)
{
	if (which->armed)
		TAILQ_REMOVE(&d->queues[which->kind].list, which, link);
	which->armed = false;
}

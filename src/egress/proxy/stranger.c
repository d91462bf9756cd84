#include "egress/proxy/stranger.h"

#include <stdio.h>

#include "sys/clock.h"

void stranger_init(struct strangers *s, struct loop *loop, struct event_log *events)
{
	*s = (struct strangers){.events = events, .loop = loop};
}

static void tell(struct strangers *s, struct stranger *one)
{
	char address[INET6_ADDRSTRLEN], reason[128];

	if (one->count == 0)
		return;
	address_text(&one->from, address);
	snprintf(reason, sizeof(reason), "%llu attempt%s from %s", (unsigned long long)one->count,
		one->count == 1 ? "" : "s", address);
	event_log_add(s->events, &(struct event){.action = "egress.unauthenticated",
					 .verdict = one->verdict,
					 .session = "",
					 .reason = reason});
	one->count = 0;
}

void stranger_done(struct strangers *s)
{
	loop_remove(TAKE_PTR(s->timer));
	for (size_t i = 0; i < STRANGERS_MAX; i++)
		tell(s, &s->v[i]);
}

static void minute_over(void *data)
{
	struct strangers *s = data;
	int64_t now = clock_boottime_ms(), next = INT64_MAX;

	s->timer = NULL;
	for (size_t i = 0; i < STRANGERS_MAX; i++) {
		struct stranger *one = &s->v[i];
		if (one->until_ms != 0 && one->until_ms <= now) {
			/* One that came again stays for another minute. */
			one->until_ms = one->count > 0 ? now + STRANGERS_PERIOD_MS : 0;
			tell(s, one);
		}
		if (one->until_ms != 0 && one->until_ms < next)
			next = one->until_ms;
	}
	if (next < INT64_MAX)
		s->timer = loop_at(s->loop, next, minute_over, s);
}

/* The place of this address, a free one, or that of who has been there longest. */
static struct stranger *place(struct strangers *s, const struct address *from)
{
	struct stranger *oldest = &s->v[0];

	for (size_t i = 0; i < STRANGERS_MAX; i++) {
		if (s->v[i].until_ms != 0 && address_compare(&s->v[i].from, from) == 0)
			return &s->v[i];
		if (s->v[i].until_ms < oldest->until_ms)
			oldest = &s->v[i];
	}
	tell(s, oldest);
	*oldest = (struct stranger){.from = *from};
	return oldest;
}

void stranger_seen(struct strangers *s, const struct address *from, enum egress_verdict verdict)
{
	struct stranger *one = place(s, from);

	one->count++;
	one->verdict = verdict;
	if (one->until_ms != 0)
		return;
	one->until_ms = clock_boottime_ms() + STRANGERS_PERIOD_MS;
	tell(s, one);
	if (!s->timer)
		s->timer = loop_at(s->loop, one->until_ms, minute_over, s);
}

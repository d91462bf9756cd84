#include "egress/proxy/event-log.h"

#include <errno.h>

#include "sys/clock.h"

void event_log_init(struct event_log *l, struct loop *loop, int fd)
{
	*l = (struct event_log){.loop = loop, .fd = fd, .pending = STR_INIT(EVENT_BYTES_MAX)};
}

static void give_up(struct event_log *l)
{
	loop_remove(TAKE_PTR(l->source));
	loop_remove(TAKE_PTR(l->timer));
	if (l->fd >= 0)
		close(TAKE_FD(l->fd));
	str_done(&l->pending);
}

static void flush(struct event_log *l);

void event_log_done(struct event_log *l)
{
	flush(l);
	give_up(l);
}

static void writable(void *data, uint32_t events)
{
	(void)events;
	flush(data);
}

static void waited(void *data)
{
	struct event_log *l = data;

	l->timer = NULL;
	if (!l->source)
		flush(l);
}

static void flush(struct event_log *l)
{
	while (l->pending.len > 0) {
		ssize_t n = write(l->fd, l->pending.data, l->pending.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			if (!l->source)
				l->source = loop_watch(l->loop, l->fd, EPOLLOUT, writable, l);
			return;
		}
		if (n < 0) {
			give_up(l);
			return;
		}
		l->pending.len -= (size_t)n;
		memmove(l->pending.data, l->pending.data + n, l->pending.len);
	}
	loop_remove(TAKE_PTR(l->source));
}

static void add_members(struct event_log *l, const struct event *e)
{
	struct str *out = &l->pending;
	char text[INET6_ADDRSTRLEN];

	str_add_text(out, e->session);
	if (e->to)
		str_addf(out, ",\"host\":\"%s\",\"port\":%u", e->to->host, (unsigned)e->to->port);
	if (e->address) {
		address_text(e->address, text);
		str_addf(out, ",\"address\":\"%s\"", text);
	}
	str_addf(out, ",\"bytes_up\":%llu,\"bytes_down\":%llu", (unsigned long long)e->bytes_up,
		(unsigned long long)e->bytes_down);
	if (e->reason)
		str_addf(out, ",\"reason\":\"%s\"", e->reason);
	if (l->lost > 0)
		str_addf(out, ",\"lost\":%llu", (unsigned long long)l->lost);
	str_add_text(out, "}\n");
}

void event_log_add(struct event_log *l, const struct event *e)
{
	size_t before = l->pending.len;
	char now[CLOCK_TEXT_SIZE];

	if (l->fd < 0)
		return;
	clock_format_ns(clock_realtime_ns(), now);
	str_addf(&l->pending,
		"{\"time\":\"%s\",\"action\":\"%s\",\"decision\":\"%s\",\"verdict\":\"%s\","
		"\"actor\":\"cloop-egress\"",
		now, e->action, e->verdict == EGRESS_VERDICT_ALLOW ? "allow" : "deny",
		egress_verdict_text(e->verdict));
	add_members(l, e);
	if (str_full(&l->pending)) {
		l->pending.len = before;
		l->pending.full = false;
		l->lost++;
		return;
	}
	l->lost = 0;
	if (l->source)
		return;
	if (!e->can_wait)
		flush(l);
	else if (!l->timer)
		l->timer = loop_at(l->loop, clock_boottime_ms() + EVENT_WAIT_MS, waited, l);
}

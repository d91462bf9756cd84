#include "egress/proxy/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "egress/proxy/conn.h"
#include "egress/socket-address.h"
#include "sys/clock.h"

enum { PERCENT = 90, OWN_DESCRIPTORS = 16, PAUSE_MS = 100 };

size_t listener_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		limit.rlim_cur = 1024;
	size_t all = (size_t)limit.rlim_cur / 100 * PERCENT;
	if (limit.rlim_cur < 10000)
		all = (size_t)limit.rlim_cur * PERCENT / 100;
	return all > OWN_DESCRIPTORS ? all - OWN_DESCRIPTORS : 1;
}

static void accepting(struct proxy *p, bool on)
{
	struct listener *l;

	if (p->accepting == on)
		return;
	p->accepting = on;
	LIST_FOREACH(l, &p->listeners, link)
	loop_change(l->source, on ? EPOLLIN : 0);
}

void listener_count(struct proxy *p)
{
	if (p->fds + pipe_pool_fds(&p->pipes) >= p->fds_max)
		pipe_pool_done(&p->pipes);
	p->pipes.scarce = p->fds + pipe_pool_fds(&p->pipes) >= p->fds_max;
	accepting(p, !p->accept_pause && !p->pipes.scarce && p->unknown < LISTENER_UNKNOWN_MAX);
}

static void pause_over(void *data)
{
	struct proxy *p = data;

	p->accept_pause = NULL;
	listener_count(p);
}

void listener_opened_one(struct proxy *p)
{
	p->fds++;
	listener_count(p);
}

void listener_closed_one(struct proxy *p)
{
	p->fds--;
	listener_count(p);
}

void listener_unknown(struct proxy *p, bool more)
{
	p->unknown += more ? 1 : -1;
	listener_count(p);
}

/* One a time: those that are connected have their turn, too. */
static void ready(void *data, uint32_t events)
{
	struct listener *l = data;
	struct proxy *p = l->proxy;
	struct sockaddr_storage from;
	struct endpoint peer;
	socklen_t len = sizeof(from);

	(void)events;
	int fd = accept4(l->fd, (struct sockaddr *)&from, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0) {
		/* The client stays in the queue, and would be reported again at once. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
			loop_remove(p->accept_pause);
			p->accept_pause =
				loop_at(p->loop, clock_boottime_ms() + PAUSE_MS, pause_over, p);
			accepting(p, false);
		}
		return;
	}
	if (socket_address_read(&from, &peer))
		conn_new(l, fd, &peer.address);
	else
		close(fd);
}

static struct listener *by_id(struct proxy *p, const char *id)
{
	struct listener *l;

	LIST_FOREACH(l, &p->listeners, link)
	if (strcmp(l->id, id) == 0)
		return l;
	return NULL;
}

int listener_add(struct proxy *p, const char *id, int fd, struct error *err)
{
	int flags = fcntl(fd, F_GETFL), on = 1;

	if (by_id(p, id))
		return error_set(err, ERROR_EGRESS_PROXY_FAILED, "the listener %s is there already",
			quoted_string(id));
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return error_set_errno(
			err, ERROR_EGRESS_PROXY_FAILED, errno, "this is no listener");
	/* For what it accepts. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	struct listener *l = mem_alloc(sizeof(*l));
	*l = (struct listener){.proxy = p, .fd = fd};
	l->source = loop_watch(p->loop, fd, p->accepting ? EPOLLIN : 0, ready, l);
	if (!l->source) {
		free(l);
		return error_set_errno(
			err, ERROR_EGRESS_PROXY_FAILED, errno, "this is no listener");
	}
	l->id = mem_strdup(id);
	LIST_INIT(&l->conns);
	LIST_INSERT_HEAD(&p->listeners, l, link);
	return 0;
}

static void remove_one(struct listener *l)
{
	struct conn *c;

	while ((c = LIST_FIRST(&l->conns)))
		conn_cut(c, EGRESS_VERDICT_SHUTTING_DOWN);
	LIST_REMOVE(l, link);
	loop_remove(l->source);
	close(l->fd);
	free(l->id);
	free(l);
}

void listener_remove(struct proxy *p, const char *id)
{
	struct listener *l = by_id(p, id);

	if (l)
		remove_one(l);
}

void listener_remove_all(struct proxy *p)
{
	while (!LIST_EMPTY(&p->listeners))
		remove_one(LIST_FIRST(&p->listeners));
	loop_remove(TAKE_PTR(p->accept_pause));
}

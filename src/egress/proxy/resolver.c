#include "egress/proxy/resolver.h"

#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "sys/clock.h"
#include "sys/spawn.h"

TAILQ_HEAD(lookup_list, lookup);

struct lookup {
	TAILQ_ENTRY(lookup) link;
	struct lookup_list *list; /* that it waits in; NULL: a helper is at it */
	char host[HOST_PATTERN_SIZE];
	resolver_fn *fn; /* NULL: forgotten */
	void *data;
};

struct helper {
	struct resolver *resolver;
	struct child child;
	int fd; /* -1: not running */
	struct loop_source *source, *timer;
	struct lookup *current;
};

struct resolver {
	struct loop *loop;
	struct helper helpers[RESOLVER_HELPERS];
	struct lookup_list waiting;
	struct lookup_list failed; /* no helper could be started: answered by the timer */
	struct loop_source *failing;
};

/* ---- In the helper ---- */

static size_t resolve(const char *host, struct address *ret)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
	size_t n = 0;

	if (getaddrinfo(host, NULL, &hints, &found) != 0)
		return 0;
	for (struct addrinfo *i = found; i; i = i->ai_next) {
		struct address a = {.family = i->ai_family};
		if (n == RESOLVER_ADDRESSES_MAX) {
			n = 0;
			break;
		}
		if (a.family == AF_INET)
			memcpy(a.bytes, &((struct sockaddr_in *)(void *)i->ai_addr)->sin_addr, 4);
		else if (a.family == AF_INET6)
			memcpy(a.bytes, &((struct sockaddr_in6 *)(void *)i->ai_addr)->sin6_addr,
				16);
		else
			continue;
		ret[n++] = address_unmapped(&a);
	}
	freeaddrinfo(found);
	return n;
}

int resolver_helper(int fd)
{
	struct address found[RESOLVER_ADDRESSES_MAX];
	char host[HOST_PATTERN_SIZE];
	ssize_t n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The root as the only search domain: what is reached is the very name that was allowed. A
	 * dot behind the name would do the same, but is not found in /etc/hosts. */
	setenv("LOCALDOMAIN", ".", 1);
	while ((n = recv(fd, host, sizeof(host) - 1, 0)) > 0) {
		host[n] = '\0';
		/* The first byte keeps an empty answer from looking like the end. */
		struct iovec pieces[] = {
			{(char[]){1}, 1}, {found, resolve(host, found) * sizeof(found[0])}};
		struct msghdr m = {.msg_iov = pieces, .msg_iovlen = ARRAY_SIZE(pieces)};
		if (sendmsg(fd, &m, MSG_NOSIGNAL) < 0)
			return 1;
	}
	return 0;
}

/* ---- In the proxy ---- */

struct resolver *resolver_new(struct loop *loop)
{
	struct resolver *r = mem_alloc(sizeof(*r));

	r->loop = loop;
	TAILQ_INIT(&r->waiting);
	TAILQ_INIT(&r->failed);
	for (size_t i = 0; i < RESOLVER_HELPERS; i++)
		r->helpers[i] = (struct helper){.resolver = r, .child = CHILD_INIT, .fd = -1};
	return r;
}

static void stop(struct helper *h)
{
	loop_remove(TAKE_PTR(h->source));
	loop_remove(TAKE_PTR(h->timer));
	if (h->fd >= 0)
		close(TAKE_FD(h->fd));
	child_done(&h->child);
}

static void enter(struct lookup_list *list, struct lookup *l)
{
	TAILQ_INSERT_TAIL(list, l, link);
	l->list = list;
}

static struct lookup *take_first(struct lookup_list *list)
{
	struct lookup *l = TAILQ_FIRST(list);

	if (l) {
		TAILQ_REMOVE(list, l, link);
		l->list = NULL;
	}
	return l;
}

void resolver_free(struct resolver *r)
{
	struct lookup *l;

	if (!r)
		return;
	loop_remove(r->failing);
	for (size_t i = 0; i < RESOLVER_HELPERS; i++) {
		stop(&r->helpers[i]);
		free(r->helpers[i].current);
	}
	while ((l = take_first(&r->waiting)) || (l = take_first(&r->failed)))
		free(l);
	free(r);
}

static void answer(struct lookup *l, const struct address *addresses, size_t n)
{
	if (l->fn)
		l->fn(l->data, addresses, n);
	free(l);
}

static void hand_out(struct resolver *r);

static void finish(struct helper *h, const struct address *addresses, size_t n)
{
	struct lookup *l = TAKE_PTR(h->current);

	loop_remove(TAKE_PTR(h->timer));
	if (l)
		answer(l, addresses, n);
	hand_out(h->resolver);
}

static void answered(void *data, uint32_t events)
{
	struct helper *h = data;
	struct address found[RESOLVER_ADDRESSES_MAX];
	char first;
	struct iovec pieces[] = {{&first, 1}, {found, sizeof(found)}};
	struct msghdr m = {.msg_iov = pieces, .msg_iovlen = ARRAY_SIZE(pieces)};

	(void)events;
	ssize_t n = recvmsg(h->fd, &m, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 1)
		stop(h);
	finish(h, found, n < 1 ? 0 : (size_t)(n - 1) / sizeof(found[0]));
}

static void took_too_long(void *data)
{
	struct helper *h = data;

	h->timer = NULL;
	stop(h);
	finish(h, NULL, 0);
}

/* The program itself, also where its folder is closed to the user that it has become. */
static bool start(struct helper *h)
{
	auto_error struct error err = ERROR_INIT;
	char *argv[] = {(char[]){"cloop-egress"}, (char[]){RESOLVER_HELPER_ARGUMENT}, NULL};
	struct spawn s = {.path = "/proc/self/exe", .argv = argv, .new_session = true};
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	auto_fd int own = pair[0], its = pair[1];
	s.fds[s.n_fds++] = (struct spawn_fd){its, RESOLVER_HELPER_FD};
	if (spawn_start(&s, &h->child, &err) < 0)
		return false;
	h->source = loop_watch(h->resolver->loop, own, EPOLLIN, answered, h);
	h->fd = TAKE_FD(own);
	if (!h->source)
		stop(h);
	return h->source != NULL;
}

static bool ask(struct helper *h, struct lookup *l)
{
	if (h->fd < 0 && !start(h))
		return false;
	if (send(h->fd, l->host, strlen(l->host), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		stop(h);
		return false;
	}
	h->current = l;
	h->timer = loop_at(
		h->resolver->loop, clock_boottime_ms() + RESOLVER_TIMEOUT_MS, took_too_long, h);
	return true;
}

/* An idle one that runs, before one that has to be started; NULL: all are busy. */
static struct helper *idle_helper(struct resolver *r)
{
	struct helper *found = NULL;

	for (size_t i = 0; i < RESOLVER_HELPERS; i++) {
		struct helper *h = &r->helpers[i];
		if (!h->current && (!found || (h->fd >= 0 && found->fd < 0)))
			found = h;
	}
	return found;
}

static void fail(void *data)
{
	struct resolver *r = data;
	struct lookup *l;

	r->failing = NULL;
	while ((l = take_first(&r->failed)))
		answer(l, NULL, 0);
}

static void hand_out(struct resolver *r)
{
	struct helper *h;

	while (!TAILQ_EMPTY(&r->waiting) && (h = idle_helper(r))) {
		struct lookup *l = take_first(&r->waiting);
		/* One that has died since is replaced at once. */
		if (ask(h, l) || ask(h, l))
			continue;
		enter(&r->failed, l);
		if (!r->failing)
			r->failing = loop_at(r->loop, 0, fail, r);
	}
}

struct lookup *resolver_ask(struct resolver *r, const char *host, resolver_fn *fn, void *data)
{
	struct lookup *l = mem_alloc(sizeof(*l));

	*l = (struct lookup){.fn = fn, .data = data};
	snprintf(l->host, sizeof(l->host), "%s", host);
	enter(&r->waiting, l);
	hand_out(r);
	return l;
}

void resolver_forget(struct lookup *l)
{
	if (!l)
		return;
	l->fn = NULL;
	if (!l->list)
		return; /* freed with the helper's answer */
	TAILQ_REMOVE(l->list, l, link);
	free(l);
}

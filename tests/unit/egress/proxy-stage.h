/* A proxy in a thread of a test, with hooks for look-ups and connections, told as its owner does.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>

#include "egress/owner.h"
#include "egress/proxy/proxy.h"
#include "egress/socket-address.h"

#define PROXY_STAGE_ID "sess_0123456789abcdef01234567"
#define PROXY_STAGE_TOKEN "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
/* Of that ID and token. */
#define PROXY_STAGE_CREDENTIALS \
	"Proxy-Authorization: Basic " \
	"c2Vzc18wMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc6MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWYw" \
	"MTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZg==\r\n"

struct proxy_stage {
	struct proxy *proxy;
	pthread_t thread;
	struct egress_owner owner;
	int events, listener;
	struct endpoint at;
};

static inline void *proxy_stage_run(void *data)
{
	struct proxy_stage *s = data;
	struct error err = ERROR_INIT;

	return proxy_run(s->proxy, &err) < 0 ? s : NULL;
}

/* -1: err says why. */
static inline int proxy_stage_begin(
	struct proxy_stage *s, const struct proxy_hooks *hooks, struct error *err)
{
	struct address loopback = {AF_INET, {127, 0, 0, 1}};
	int control[2], events[2];

	*s = (struct proxy_stage){.owner = EGRESS_OWNER_INIT, .at = {.port = 0}};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0 ||
		pipe2(events, O_CLOEXEC | O_NONBLOCK) < 0)
		return error_set_errno(err, ERROR_IO, errno, "no channels");
	s->owner.control = control[0];
	s->events = events[0];
	s->proxy = proxy_new(control[1], events[1], hooks, err);
	if (!s->proxy || pthread_create(&s->thread, NULL, proxy_stage_run, s) != 0)
		return -1;
	s->listener = egress_owner_listen(&loopback, &s->at, err);
	return s->listener < 0 ? -1 : egress_owner_add_listener(&s->owner, "run", s->listener, err);
}

static inline void proxy_stage_end(struct proxy_stage *s)
{
	close(s->owner.control);
	pthread_join(s->thread, NULL);
	proxy_free(s->proxy);
	close(s->events);
	close(s->listener);
}

/* A session of the ID and token above. */
static inline int proxy_stage_open(
	struct proxy_stage *s, json_t *grant, const struct egress_session *how, struct error *err)
{
	struct egress_session session = *how;

	snprintf(session.id, sizeof(session.id), "%s", PROXY_STAGE_ID);
	sha256_hex(TEXT(PROXY_STAGE_TOKEN), session.token_sha256);
	int r = egress_grant_read(grant, &session.grant, err);
	if (r == 0)
		r = egress_owner_open(&s->owner, &session, "run",
			&(struct egress_owner_facts){.handle = "h"}, err);
	egress_grant_done(&session.grant);
	return r;
}

static inline int proxy_stage_close(struct proxy_stage *s, struct error *err)
{
	struct egress_counters counters;

	return egress_owner_close(&s->owner, PROXY_STAGE_ID, "ended", &counters, err);
}

/* A connection to the proxy, or -1. */
static inline int proxy_stage_connect(const struct proxy_stage *s)
{
	struct sockaddr_storage to;
	socklen_t len = socket_address_make(&s->at.address, s->at.port, &to);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, len) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

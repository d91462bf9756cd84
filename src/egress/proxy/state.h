/* What the parts of one proxy share. */
#pragma once

#include "egress/http-head.h"
#include "egress/proxy/deadline.h"
#include "egress/proxy/event-log.h"
#include "egress/proxy/flow.h"
#include "egress/proxy/proxy.h"
#include "egress/proxy/resolver.h"
#include "egress/proxy/stranger.h"

struct conn;
struct listener;
struct session;

struct proxy {
	struct loop *loop;
	struct proxy_hooks hooks;
	int control;
	struct loop_source *control_source;
	struct event_log events;
	struct resolver *resolver;
	struct deadlines deadlines;
	struct pipe_pool pipes;
	struct strangers strangers;
	LIST_HEAD(session_list, session) sessions;
	LIST_HEAD(listener_list, listener) listeners;
	size_t fds, fds_max; /* sockets of connections; accepting stops there */
	int unknown;         /* clients without a session; too many stop it, too */
	bool accepting;
	struct loop_source *accept_pause; /* there was no descriptor or memory for one more */
	/* For the duration of one call. */
	struct http_request request;
	struct http_response response;
	char scratch[FLOW_BYTES_MAX];
};

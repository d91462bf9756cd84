#include "egress/proxy/proxy.h"

#include "base/mem.h"
#include "egress/proxy/conn.h"
#include "egress/proxy/control.h"
#include "egress/proxy/listener.h"

struct proxy *proxy_new(int control, int events, const struct proxy_hooks *hooks, struct error *err)
{
	struct loop *loop = loop_new(err);

	if (!loop)
		return NULL;
	struct proxy *p = mem_alloc(sizeof(*p));
	p->loop = loop;
	p->control = control;
	p->accepting = true;
	p->fds_max = listener_limit();
	if (hooks)
		p->hooks = *hooks;
	LIST_INIT(&p->sessions);
	LIST_INIT(&p->listeners);
	event_log_init(&p->events, loop, events);
	stranger_init(&p->strangers, loop, &p->events);
	deadline_init(&p->deadlines, loop, conn_deadline);
	p->resolver = resolver_new(loop);
	if (control_begin(p, err) < 0) {
		proxy_free(p);
		return NULL;
	}
	return p;
}

int proxy_run(struct proxy *p, struct error *err)
{
	return loop_run(p->loop, err);
}

void proxy_free(struct proxy *p)
{
	if (!p)
		return;
	listener_remove_all(p);
	session_table_drop_all(p);
	stranger_done(&p->strangers);
	resolver_free(p->resolver);
	deadline_done(&p->deadlines);
	pipe_pool_done(&p->pipes);
	event_log_done(&p->events);
	loop_remove(p->control_source);
	close(p->control);
	loop_free(p->loop);
	free(p);
}

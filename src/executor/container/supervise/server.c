/* What the control socket of a sandbox's supervisor does (container-driver.md §18.4). */
#include <signal.h>

#include "executor/container/supervise/refresh.h"
#include "executor/container/supervise/revoke.h"
#include "executor/container/supervise/supervisor.h"

static int do_status(void *data, const json_t *request, json_t **ret, struct error *err)
{
	struct supervisor *s = data;

	(void)request;
	(void)err;
	*ret = json_pack("{s:o}", "record", record_public(s->record));
	return 0;
}

static int do_signal(void *data, const json_t *request, json_t **ret, struct error *err)
{
	struct text word = json_get_text(request, "signal");

	(void)ret;
	if (text_is(word, "kill"))
		stop_request(data, "cancelled", 0);
	else if (text_is(word, "interrupt"))
		stop_signal(data, SIGINT);
	else if (text_is(word, "terminate"))
		stop_signal(data, SIGTERM);
	else
		return error_set(err, ERROR_SIGNAL_INVALID, "%s is no signal", quoted(word));
	return 0;
}

static int do_stop(void *data, const json_t *request, json_t **ret, struct error *err)
{
	(void)ret;
	(void)err;
	stop_request(data, "cancelled", json_get_int(request, "grace_ms", -1));
	return 0;
}

static const struct control_op ops[] = {
	{.op = "status", .run = do_status},
	{.op = "signal", .answered = CONTROL_WHEN_DELIVERED, .run = do_signal},
	{.op = "stop", .answered = CONTROL_AT_END, .run = do_stop},
	{.op = "revoke", .answered = CONTROL_LATER, .run = revoke_run},
	{.op = "refresh", .run_bytes = refresh_run, .bytes_max = REFRESH_BYTES_MAX},
	{.op = "attach", .answered = CONTROL_KEPT, .run = attach_judge, .keep = attach_begin},
	{.op = NULL},
};

int server_open(struct supervisor *s, struct error *err)
{
	s->server = control_server_open(s->loop, &s->home, s->run.handle, ops, s, err);
	return s->server ? 0 : -1;
}

void server_shut(struct supervisor *s)
{
	control_server_shut(s->server);
}

void server_close(struct supervisor *s)
{
	control_server_free(s->server);
	s->server = NULL;
}

#include "executor/executor.h"

#include "base/enum-text.h"
#include "base/mem.h"

static const char *const signal_names[] = {
	[EXECUTOR_INTERRUPT] = "interrupt",
	[EXECUTOR_TERMINATE] = "terminate",
	[EXECUTOR_KILL] = "kill",
};
ENUM_TEXT(executor_signal, signal_names, EXECUTOR_SIGNAL_COUNT)

struct executor *executor_new(const struct executor_ops *ops, const char *id, void *driver)
{
	struct executor *e = mem_alloc(sizeof(*e));

	*e = (struct executor){ops, mem_strdup(id), driver};
	return e;
}

void executor_free(struct executor *e)
{
	if (!e)
		return;
	if (e->ops->free)
		e->ops->free(e->driver);
	free(e->id);
	free(e);
}

/* An executor that cannot be used: its driver data is this, its operations are the next table. */
struct unavailable {
	struct executor_ops ops; /* with the kind of the driver it stands for */
	struct error reason;
};

static void unavailable_free(void *driver)
{
	struct unavailable *u = driver;

	error_done(&u->reason);
	free(u);
}

struct executor *executor_new_unavailable(const char *kind, const char *id, struct error *reason)
{
	struct unavailable *u = mem_alloc(sizeof(*u));

	u->ops = (struct executor_ops){.kind = kind, .free = unavailable_free};
	error_move(&u->reason, reason);
	return executor_new(&u->ops, id, u);
}

const struct error *executor_unavailable_reason(const struct executor *e)
{
	if (e->ops->free != unavailable_free)
		return NULL;
	return &((const struct unavailable *)e->driver)->reason;
}

const char *executor_kind(const struct executor *e)
{
	return e->ops->kind;
}

/* The default of every operation that was asked to do something. */
static int refuse(const struct executor *e, const char *what, struct error *err)
{
	const struct error *reason = executor_unavailable_reason(e);

	if (!reason)
		return error_set(err, ERROR_EXECUTOR_UNSUPPORTED, "executor %s (%s) cannot %s",
			e->id, e->ops->kind, what);
	error_set(err, reason->code, "executor %s is not available: %s", e->id, reason->message);
	return error_set_remedy(err, "%s", error_remedy(reason));
}

/* Names the executor in a failure of its driver. */
static int told(const struct executor *e, int result, struct error *err)
{
	if (result < 0)
		error_prefix(err, "executor %s", e->id);
	return result;
}

void executor_capabilities(const struct executor *e, struct candidate *ret)
{
	const struct error *reason = executor_unavailable_reason(e);

	*ret = (struct candidate){0};
	if (e->ops->capabilities)
		e->ops->capabilities(e, ret);
	else
		ret->health = TEXT("unreachable");
	if (reason)
		ret->health_reason = text_of(reason->message);
	ret->id = text_of(e->id);
	if (ret->kind.len == 0)
		ret->kind = text_of(e->ops->kind);
}

int executor_health_check(const struct executor *e, struct error *err)
{
	if (!e->ops->health_check)
		return refuse(e, "tell its health", err);
	return told(e, e->ops->health_check(e, err), err);
}

int executor_start(const struct executor *e, const struct executor_start *start,
	char ret_handle[EXECUTOR_HANDLE_SIZE], struct error *err)
{
	if (!e->ops->start)
		return refuse(e, "start a workload", err);
	return told(e, e->ops->start(e, start, ret_handle, err), err);
}

int executor_signal(const struct executor *e, const char *home, const char *handle,
	enum executor_signal signal, struct error *err)
{
	if (!e->ops->signal)
		return refuse(e, "signal a workload", err);
	return told(e, e->ops->signal(e, home, handle, signal, err), err);
}

int executor_stop(const struct executor *e, const char *home, const char *handle,
	const struct executor_stop *how, struct error *err)
{
	if (!e->ops->stop)
		return refuse(e, "stop a workload", err);
	return told(e, e->ops->stop(e, home, handle, how, err), err);
}

int executor_status(const struct executor *e, const char *home, const char *handle, json_t **ret,
	struct error *err)
{
	if (!e->ops->status)
		return refuse(e, "tell the state of a run", err);
	return told(e, e->ops->status(e, home, handle, ret, err), err);
}

int executor_open_log(const struct executor *e, const char *home, const char *handle, int *ret_dir,
	struct error *err)
{
	if (!e->ops->open_log)
		return refuse(e, "show the output of a run", err);
	return told(e, e->ops->open_log(e, home, handle, ret_dir, err), err);
}

int executor_handles(
	const struct executor *e, const char *home, struct strv *ret, struct error *err)
{
	if (!e->ops->handles)
		return 0;
	return told(e, e->ops->handles(e, home, ret, err), err);
}

int executor_attach(const struct executor *e, const char *home, const char *handle,
	const struct executor_attach *how, int *ret_fd, struct error *err)
{
	if (!e->ops->attach)
		return refuse(e, "attach to a run", err);
	return told(e, e->ops->attach(e, home, handle, how, ret_fd, err), err);
}

int executor_revoke_lease(const struct executor *e, const char *home, const char *handle,
	const json_t *request, json_t **ret, struct error *err)
{
	if (!e->ops->revoke_lease)
		return refuse(e, "take a lease back", err);
	return told(e, e->ops->revoke_lease(e, home, handle, request, ret, err), err);
}

int executor_preflight(
	const struct executor *e, const char *work_dir, json_t **ret, struct error *err)
{
	if (!e->ops->preflight)
		return refuse(e, "be checked", err);
	return told(e, e->ops->preflight(e, work_dir, ret, err), err);
}

int executor_smoke_test(
	const struct executor *e, const char *work_dir, json_t **ret, struct error *err)
{
	if (!e->ops->smoke_test)
		return refuse(e, "be tested", err);
	return told(e, e->ops->smoke_test(e, work_dir, ret, err), err);
}

int executor_reap_orphans(
	const struct executor *e, const char *home, struct strv *ret_names, struct error *err)
{
	if (executor_unavailable_reason(e))
		return refuse(e, "look for what is left", err);
	if (!e->ops->reap_orphans)
		return 0;
	return told(e, e->ops->reap_orphans(e, home, ret_names, err), err);
}

/* Removing what dead runs left behind (container-driver.md §16.3). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "executor/container/decisions/reap.h"
#include "executor/container/driver/derived-reap.h"
#include "executor/container/driver/driver.h"
#include "executor/container/driver/guest-file.h"
#include "executor/container/driver/network-reap.h"
#include "executor/container/driver/shim.h"
#include "executor/container/inspect.h"
#include "executor/rundir/record.h"
#include "executor/rundir/stage-wipe.h"
#include "sys/cancel.h"
#include "sys/clock.h"
#include "sys/log.h"
#include "trust/reap.h"

enum {
	LIST_TIMEOUT_MS = 30000,
	REMOVE_TIMEOUT_MS = 60000,
	REMOVE_SOON_MS = 5000, /* while somebody waits; a removal cut short leaves half of it */
	REMOVE_AGAIN_MS = 1000,
	REMOVE_ATTEMPTS = 2,
	SUPERVISORS_MS = 5000, /* all of them together */
	SUPERVISOR_EVERY_MS = 20,
	STDOUT_MAX = 16 << 20,
	BATCH = 50,
	CONTAINERS_MAX = 10000
};

#define RUNNING_SUFFIX " (running)"

struct reaping {
	const struct container_driver *driver;
	const struct executor *executor;
	struct home home;
	struct strv env;
	struct strv *names; /* removed */
	const char *only;   /* this run's; NULL = all */
	int64_t until;      /* boottime, for questions; 0 = as long as it takes */
	int64_t patience;   /* ms left of SUPERVISORS_MS */
};

static int64_t within(const struct reaping *r, int64_t ms)
{
	int64_t left = r->until - clock_boottime_ms();

	if (r->until == 0 || left > ms)
		return ms;
	return left > 0 ? left : 1;
}

static struct client_call client_of(
	const struct reaping *r, const char *const *args, int64_t timeout_ms)
{
	return (struct client_call){
		.runtime = &r->driver->runtime,
		.env = &r->env,
		.args = args,
		.timeout_ms = timeout_ms,
		.stdout_max = STDOUT_MAX,
		.cancel_fd = -1,
	};
}

static int call(const struct reaping *r, const char *const *args, int64_t timeout_ms,
	struct captured *ret, struct error *err)
{
	struct client_call c = client_of(r, args, within(r, timeout_ms));

	return client_ask(&c, ret, err);
}

static int list_ids(const struct reaping *r, struct strv *ret, struct error *err)
{
	AUTO(captured) answer = {.status = 0};
	auto_free char *home = mem_printf("--filter=label=cloop.home=%s", r->home.id);
	const char *args[] = {"ps", "--all", "--quiet", "--no-trunc",
		"--filter=label=cloop.managed=true", home, NULL};
	struct text rest, line;

	if (call(r, args, LIST_TIMEOUT_MS, &answer, err) < 0)
		return -1;
	rest = (struct text){str_text(&answer.out), answer.out.len};
	while (text_split(&rest, '\n', &line))
		if (text_is_hex(text_trim(line), 64) && strv_add_n(ret, text_trim(line).p, 64) < 0)
			break;
	return 0;
}

static struct text label(const struct inspection *c, const char *key)
{
	return json_get_text(c->labels, key);
}

/* It is there and cannot be read now, for want of descriptors for one. */
static int refuse_unreadable(const struct rundir *run, struct error *err)
{
	auto_fd int fd = openat(run->fd, RECORD_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 || errno == ENOENT ? 0
					  : error_set_errno(err, ERROR_IO, errno,
						    "reading the record of run %s", run->handle);
}

/*
 * What the run directory says, if there is one; a run with a supervisor is one, whatever it says.
 * -1: that cannot be told, and nothing of a live run may be removed for it.
 */
static int look_at_run(const struct reaping *r, const struct inspection *c, struct reap_input *in,
	struct error *err)
{
	auto_error struct error why = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	int gone = c->handle ? rundir_look(&r->home, c->handle, &run, err) : 1;
	if (gone != 0)
		return gone < 0 ? -1 : 0;
	auto_json *record = rundir_read(&run, RECORD_FILE, &why);
	int held = rundir_supervised(&run, err);
	if (held < 0 || (!record && refuse_unreadable(&run, err) < 0))
		return -1;
	in->run_known = record || held;
	in->run_final = record && record_final(record);
	in->shim_alive = held;
	return 0;
}

static void adopt(const struct reaping *r, const char *handle)
{
	auto_error struct error err = ERROR_INIT;
	struct child child = CHILD_INIT;

	if (shim_adopt(&r->home, handle, &child, &err) < 0)
		log_warning("%s", err.message);
	else
		close(child.pidfd);
}

/* A run that has ended is tidied up by its supervisor: that comes first, unless it hangs. */
static void await_supervisor(struct reaping *r, const char *handle)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;
	int64_t until = clock_boottime_ms() + within(r, r->patience);

	if (rundir_open(&r->home, handle, &run, &err) < 0)
		return;
	while (rundir_supervised(&run, &err) == 1 && clock_boottime_ms() < until)
		if (cancel_pause(SUPERVISOR_EVERY_MS))
			return;
	int64_t left = until - clock_boottime_ms();
	r->patience = left > 0 ? left : 0;
}

/* 1 it is, 0 it went meanwhile, -1 + err. */
static int still_there(const struct reaping *r, const char *id, struct error *err)
{
	AUTO(captured) answer = {.status = 0};
	const char *args[] = {"inspect", "--type=container", "--format={{.Id}}", id, NULL};

	struct client_call c = client_of(r, args, within(r, LIST_TIMEOUT_MS));
	int got = client_run(&c, &answer, err);
	if (got <= 0)
		return got < 0 ? -1 : 1;
	if (inspect_says_unknown((struct text){str_text(&answer.err), answer.err.len}))
		return 0;
	return client_explain(&c, &answer, "", err);
}

/*
 * 1 removed, 0 somebody else did, -1 + err. Whether it is there is asked before: `rm --force` may
 * end well without.
 */
static int remove_container(const struct reaping *r, const struct inspection *c, struct error *err)
{
	const char *podman[] = {"rm", "--force", "--time=0", "--volumes", c->id, NULL};
	const char *docker[] = {"rm", "--force", "--volumes", c->id, NULL};

	const char *const *args = r->driver->runtime.engine == ENGINE_PODMAN ? podman : docker;
	int there = still_there(r, c->id, err);
	if (there <= 0)
		return there;
	for (unsigned attempt = 1;; attempt++) {
		AUTO(captured) answer = {.status = 0};
		struct client_call rm =
			client_of(r, args, r->until ? REMOVE_SOON_MS : REMOVE_TIMEOUT_MS);
		int got = client_run(&rm, &answer, err);
		if (got <= 0)
			return got < 0 ? -1 : 1;
		if (inspect_says_unknown((struct text){str_text(&answer.err), answer.err.len}))
			return 0;
		/* After the death of conmon the first `rm` of podman 4.3.1 fails. */
		if (attempt == REMOVE_ATTEMPTS || r->until)
			return client_explain(&rm, &answer, "", err);
		clock_sleep_ms(REMOVE_AGAIN_MS);
	}
}

static int judge(struct reaping *r, const json_t *object, struct error *err)
{
	AUTO(inspection) c = INSPECTION_INIT;

	if (inspect_read(object, &c, err) < 0)
		return -1;
	if (r->only && !(c.handle && strcmp(c.handle, r->only) == 0))
		return 0;
	struct reap_input in = {
		.status = text_of(c.status),
		.managed = label(&c, "cloop.managed"),
		.home = label(&c, "cloop.home"),
		.executor = label(&c, "cloop.executor"),
		.handle = label(&c, "cloop.handle"),
		.created = text_of(c.created_at ? c.created_at : ""),
		.started = text_of(c.started_at ? c.started_at : ""),
		.my_executor = text_of(r->executor->id),
		.my_home = text_of(r->home.id),
		.now_ns = clock_realtime_ns(),
		.grace_seconds = r->driver->options.orphan_grace_period_seconds,
	};
	if (look_at_run(r, &c, &in, err) < 0)
		return -1;
	enum reap_verdict verdict = reap_decide(&in);
	if (verdict == REAP_KEEP)
		return 0;
	if (verdict == REAP_ADOPT) {
		adopt(r, c.handle);
		return 0;
	}
	if (in.run_known && in.shim_alive)
		await_supervisor(r, c.handle);
	int removed = remove_container(r, &c, err);
	if (removed <= 0)
		return removed;
	const char *name = json_get_string(object, "Name");
	while (name && name[0] == '/')
		name++;
	strv_addf(r->names, "%s%s", name ? name : c.id,
		verdict == REAP_REMOVE_RUNNING ? RUNNING_SUFFIX : "");
	return 0;
}

/*
 * The containers of a batch that there still are. One that went meanwhile makes the client fail,
 * but not without the others' answers; a list that cannot be read is an error.
 */
static json_t *inspect_batch(
	const struct reaping *r, const struct strv *ids, size_t from, struct error *err)
{
	AUTO(captured) answer = {.status = 0};
	const char *args[BATCH + 3] = {"inspect", "--type=container"};
	size_t n = 2;

	for (size_t i = from; i < ids->n && n < BATCH + 2; i++)
		args[n++] = ids->v[i];
	struct client_call c = client_of(r, args, within(r, LIST_TIMEOUT_MS));
	int got = client_run(&c, &answer, err);
	if (got < 0)
		return NULL;
	if (got == 1 &&
		!inspect_says_unknown((struct text){str_text(&answer.err), answer.err.len})) {
		(void)!client_explain(&c, &answer, "", err);
		return NULL;
	}
	return inspect_read_list((struct text){str_text(&answer.out), answer.out.len}, err);
}

/* One failure does not stop the others; the first one is told. */
static int reap_batch(struct reaping *r, const struct strv *ids, size_t from, struct error *err)
{
	size_t i;
	json_t *object;
	int result = 0;

	auto_json *list = inspect_batch(r, ids, from, err);
	if (!list)
		return -1;
	json_array_foreach(list, i, object)
	{
		auto_error struct error one = ERROR_INIT;
		if (judge(r, object, &one) < 0 && result == 0) {
			error_move(err, &one);
			result = -1;
		}
	}
	return result;
}

static int reap_derived(const struct reaping *r, struct error *err)
{
	struct derived_reap d = {
		.runtime = &r->driver->runtime,
		.env = &r->env,
		.home = r->home.path,
		.days = r->driver->settings.derived_image_days,
		.names = r->names,
	};

	return derived_reap_run(&d, err);
}

static int reap_networks(const struct reaping *r, struct error *err)
{
	struct network_reap n = {
		.runtime = &r->driver->runtime,
		.env = &r->env,
		.home = &r->home,
		.names = r->names,
	};

	return network_reap_run(&n, err);
}

static void reaping_done(struct reaping *r)
{
	strv_done(&r->env);
	home_done(&r->home);
}

static struct reaping reaping_of(const struct executor *e, struct strv *names)
{
	return (struct reaping){
		.driver = container_driver_of(e),
		.executor = e,
		.home = HOME_INIT,
		.env = STRV_INIT(64),
		.names = names,
		.patience = SUPERVISORS_MS,
	};
}

static int reap_containers(struct reaping *r, struct error *err)
{
	AUTO(strv) ids = STRV_INIT(CONTAINERS_MAX);
	int result = 0;

	if (client_environment(&r->driver->runtime, r->home.path, &r->env, err) < 0 ||
		list_ids(r, &ids, err) < 0)
		result = -1;
	for (size_t i = 0; i < ids.n; i += BATCH) {
		auto_error struct error one = ERROR_INIT;
		if (reap_batch(r, &ids, i, &one) < 0 && result == 0) {
			error_move(err, &one);
			result = -1;
		}
	}
	return result;
}

int container_driver_reap_run(const struct executor *e, const char *home, const char *handle,
	int64_t until, struct error *err)
{
	AUTO(strv) names = STRV_INIT(CONTAINERS_MAX);
	AUTO(reaping) r = reaping_of(e, &names);

	r.only = handle;
	r.until = until;
	return home_open(home, &r.home, err) < 0 ? -1 : reap_containers(&r, err);
}

int container_driver_reap(
	const struct executor *e, const char *home, struct strv *ret_names, struct error *err)
{
	AUTO(reaping) r = reaping_of(e, ret_names);

	if (home_open(home, &r.home, err) < 0)
		return -1;
	int result = reap_containers(&r, err);
	auto_error struct error derived = ERROR_INIT;
	if (reap_derived(&r, &derived) < 0 && result == 0) {
		error_move(err, &derived);
		result = -1;
	}
	auto_error struct error networks = ERROR_INIT;
	if (reap_networks(&r, &networks) < 0 && result == 0) {
		error_move(err, &networks);
		result = -1;
	}
	auto_error struct error last = ERROR_INIT;
	if (trust_reap(r.home.path, &last) < 0 && result == 0) {
		error_move(err, &last);
		result = -1;
	}
	stage_sweep(&r.home);
	guest_file_reap(&r.home);
	strv_sort(ret_names);
	return result;
}

#include "lib/home.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "executor/rundir/record.h"
#include "lib/strings.h"
#include "run/look.h"
#include "run/request.h"
#include "run/revoke.h"
#include "sys/clock.h"
#include "sys/file.h"

#define PRIVATE_FOLDER "/tmp/"
enum { GONE_WITHIN_MS = 30000, AGAIN_MS = 20 };

void lib_home_look(struct lib_call *call, const struct home *home)
{
	struct executor_list list = {.items = {&call->executor}, .n = 1};

	look_at_runs(home);
	revoke_due_on(home, &list);
}

static int make_private(struct cloop_container *c, struct error *err)
{
	char path[] = PRIVATE_FOLDER "cloop-home-XXXXXX";

	if (c->private_home)
		return 0;
	if (!mkdtemp(path))
		return error_set_errno(
			err, ERROR_HOME_UNUSABLE, errno, "making a home in " PRIVATE_FOLDER);
	c->private_home = mem_strdup(path);
	c->private_owner = getpid();
	return 0;
}

static int add_home(struct cloop_container *c, const char *path, struct error *err)
{
	if (c->homes.n > 0 && strcmp(c->homes.v[c->homes.n - 1], path) == 0)
		return 0;
	return strv_add(&c->homes, path) == 0
		       ? 0
		       : error_set(err, ERROR_HOME_UNUSABLE, "too many homes for one executor");
}

int lib_home_attach(struct cloop_container *c, const char *home, struct error *err)
{
	AUTO(home) h = HOME_INIT;
	struct lib_call call;
	const char *path = lib_text(home);

	if (path[0] && path[0] != '/')
		return error_set(err, ERROR_HOME_UNUSABLE, "the home %s is not an absolute path",
			quoted_string(path));
	pthread_mutex_lock(&c->lock);
	int r = path[0] ? 0 : make_private(c, err);
	pthread_mutex_unlock(&c->lock);
	if (r < 0 || home_open(path[0] ? path : c->private_home, &h, err) < 0)
		return -1;
	pthread_mutex_lock(&c->lock);
	r = add_home(c, h.path, err);
	pthread_mutex_unlock(&c->lock);
	if (r < 0)
		return -1;
	lib_call_begin(c, NULL, &call);
	lib_home_look(&call, &h);
	return 0;
}

/* ---- The end of a private one ---- */

static void end_run(const struct home *h, const struct rundir *run, int64_t until)
{
	auto_error struct error ignored = ERROR_INIT;

	if (!record_final_now(run))
		(void)!request_signal(h, run, "kill", &ignored);
	while ((!record_final_now(run) || rundir_supervised(run, &ignored) == 1) &&
		clock_boottime_ms() < until)
		clock_sleep_ms(AGAIN_MS);
}

static void end_runs(const char *path)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO(home) h = HOME_INIT;
	AUTO(strv) handles = STRV_INIT(RUNDIR_RUNS_MAX);
	int64_t until = clock_boottime_ms() + GONE_WITHIN_MS;

	if (home_open(path, &h, &ignored) < 0 || rundir_handles(&h, &handles, &ignored) < 0)
		return;
	strv_foreach (handle, &handles) {
		AUTO(rundir) run = RUNDIR_INIT;
		if (rundir_open(&h, *handle, &run, &ignored) == 0)
			end_run(&h, &run, until);
	}
}

void lib_home_remove(struct cloop_container *c)
{
	auto_error struct error ignored = ERROR_INIT;

	end_runs(c->private_home);
	auto_fd int folder = open(PRIVATE_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0)
		(void)!file_remove_tree_at(
			folder, c->private_home + strlen(PRIVATE_FOLDER), &ignored);
}

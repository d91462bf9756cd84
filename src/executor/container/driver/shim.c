#include "executor/container/driver/shim.h"

#include "base/mem.h"
#include "sys/env.h"
#include "sys/program.h"

struct shim_call {
	const struct home *home;
	const char *verb;
	const char
		*fault; /* the variable whose value becomes CLOOP_FAULT of the supervisor (tests) */
	const char *handle;
	const struct spawn_fd *fds;
	size_t n_fds;
};

static int run_shim(const struct shim_call *c, struct child *ret, struct error *err)
{
	AUTO(strv) env = STRV_INIT(16);
	AUTO(strv) argv = STRV_INIT(8);
	auto_free char *path = program_path("cloop-shim");
	struct spawn s = {.path = path, .new_session = true, .detached = true, .n_fds = c->n_fds};

	for (size_t i = 0; i < c->n_fds; i++)
		s.fds[i] = c->fds[i];
	strv_add(&argv, "cloop-shim");
	strv_add(&argv, "--home");
	strv_add(&argv, c->home->path);
	strv_add(&argv, c->verb);
	strv_add(&argv, c->handle);
	if (c->fault && env_get(c->fault))
		strv_addf(&env, "CLOOP_FAULT=%s", env_get(c->fault));
	program_environment(&env);
	s.argv = argv.v;
	s.env = env.v;
	return spawn_start(&s, ret, err);
}

int shim_start(const struct home *h, const char *handle, int lock_fd, int caller_fd,
	struct child *ret, struct error *err)
{
	struct spawn_fd fds[] = {{lock_fd, 3}, {caller_fd, 4}};
	struct shim_call call = {h, "--start", "CLOOP_FAULT", handle, fds, ARRAY_SIZE(fds)};

	return run_shim(&call, ret, err);
}

int shim_adopt(const struct home *h, const char *handle, struct child *ret, struct error *err)
{
	struct shim_call call = {h, "--adopt", "CLOOP_FAULT_ADOPT", handle, NULL, 0};

	return run_shim(&call, ret, err);
}

int shim_ensure(const struct home *h, const struct rundir *run, struct error *err)
{
	struct child child = CHILD_INIT;
	int held = rundir_supervised(run, err);

	if (held != 0)
		return held < 0 ? -1 : 0;
	if (shim_adopt(h, run->handle, &child, err) < 0)
		return -1;
	close(child.pidfd);
	return 0;
}

/*
 * Starting children. posix_spawn (vfork inside: nothing is copied) reports a failed exec as its own
 * result. Descriptors take two steps, because `from` and `to` numbers may cross: first every named
 * one is duplicated above the highest `to` (close-on-exec), then, in the child, dup2 puts each
 * where it belongs, and everything that was not named is closed.
 */
#include "sys/spawn.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>

#include "base/text.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/spawn-internal.h"

enum { TO_MAX = 63 };

static spawn_hook *hook;
static void *hook_data;

void spawn_set_hook(spawn_hook *h, void *data)
{
	hook = h;
	hook_data = data;
}

bool spawn_answer(const struct spawn *s, struct captured *answer)
{
	return hook && hook(hook_data, s, answer);
}

/* What posix_spawn gets; holds the duplicates until the child has them. */
struct plan {
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int dups[SPAWN_FDS_MAX];
	size_t n_dups;
};

static void plan_init(struct plan *p)
{
	posix_spawn_file_actions_init(&p->actions);
	posix_spawnattr_init(&p->attr);
	p->n_dups = 0;
}

static void plan_done(struct plan *p)
{
	for (size_t i = 0; i < p->n_dups; i++)
		close(p->dups[i]);
	posix_spawnattr_destroy(&p->attr);
	posix_spawn_file_actions_destroy(&p->actions);
}

int spawn_highest_fd(const struct spawn *s)
{
	int highest = STDERR_FILENO;

	assert(s->n_fds <= SPAWN_FDS_MAX);
	for (size_t i = 0; i < s->n_fds; i++) {
		assert(s->fds[i].to >= 0 && s->fds[i].to <= TO_MAX);
		highest = s->fds[i].to > highest ? s->fds[i].to : highest;
	}
	return highest;
}

/* The duplicate that becomes `to`, or -1. */
static int dup_for(const struct plan *p, const struct spawn *s, int to)
{
	for (size_t i = 0; i < s->n_fds; i++)
		if (s->fds[i].to == to)
			return p->dups[i];
	return -1;
}

/* 0 or an errno. */
static int plan_fds(struct plan *p, const struct spawn *s)
{
	int highest = spawn_highest_fd(s), r = 0;

	for (size_t i = 0; i < s->n_fds; i++) {
		int fd = fcntl(s->fds[i].from, F_DUPFD_CLOEXEC, highest + 1);
		if (fd < 0)
			return errno;
		p->dups[p->n_dups++] = fd;
	}
	for (int to = 0; to <= highest && r == 0; to++) {
		int from = dup_for(p, s, to);
		if (from >= 0)
			r = posix_spawn_file_actions_adddup2(&p->actions, from, to);
		else if (to <= STDERR_FILENO)
			r = posix_spawn_file_actions_addopen(&p->actions, to,
				s->tty ? s->tty : "/dev/null",
				s->tty               ? O_RDWR
				: to == STDIN_FILENO ? O_RDONLY
						     : O_WRONLY,
				0);
		else
			r = posix_spawn_file_actions_addclose(&p->actions, to);
	}
	return r ? r : posix_spawn_file_actions_addclosefrom_np(&p->actions, highest + 1);
}

static int plan_attributes(struct plan *p, const struct spawn *s)
{
	sigset_t none, all;
	short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;

	sigemptyset(&none);
	/* Not sigfillset(): it leaves out 32 and 33, which glibc 2.36 then ignores in the child. */
	memset(&all, 0xff, sizeof(all));
	posix_spawnattr_setsigmask(&p->attr, &none);
	posix_spawnattr_setsigdefault(&p->attr, &all);
	if (s->new_session)
		flags |= POSIX_SPAWN_SETSID;
	posix_spawnattr_setflags(&p->attr, flags);
	return posix_spawn_file_actions_addchdir_np(&p->actions, s->cwd ? s->cwd : "/");
}

static int start(const struct spawn *s, pid_t *ret_pid)
{
	static char *const nothing[] = {NULL};
	__attribute__((cleanup(plan_done))) struct plan p;

	plan_init(&p);
	int r = plan_attributes(&p, s);
	if (r == 0)
		r = plan_fds(&p, s);
	if (r == 0)
		r = posix_spawn(
			ret_pid, s->path, &p.actions, &p.attr, s->argv, s->env ? s->env : nothing);
	return r;
}

int spawn_start_unwatched(const struct spawn *s, pid_t *ret_pid, struct error *err)
{
	assert(s->path[0] == '/' && s->argv && s->argv[0]);
	int r = fault_hit("spawn") ? EAGAIN : start(s, ret_pid);
	return r == 0 ? 0
		      : error_set_errno(
				err, ERROR_IO, r, "cannot execute %s", quoted_string(s->path));
}

int spawn_start_own(const struct spawn *s, struct child *ret, struct error *err)
{
	AUTO(child) c = CHILD_INIT;
	pid_t pid = -1;

	if (spawn_start_unwatched(s, &pid, err) < 0)
		return -1;
	c.pid = pid;
	c.pidfd = pidfd_open(c.pid, 0);
	if (c.pidfd < 0)
		return error_set_errno(
			err, ERROR_IO, errno, "cannot watch %s", quoted_string(s->path));
	*ret = c;
	c = CHILD_INIT;
	return 0;
}

int spawn_start_real(const struct spawn *s, struct child *ret, struct error *err)
{
	auto_free char *keeper = spawn_keeper_program();

	return keeper ? spawn_keeper_start(s, keeper, ret, err) : spawn_start_own(s, ret, err);
}

/* What the answer says on stdout and stderr goes to whoever would have read it. */
static void write_answer(const struct spawn *s, const struct captured *answer)
{
	for (size_t i = 0; i < s->n_fds; i++) {
		auto_error struct error ignored = ERROR_INIT;
		int to = s->fds[i].to;
		const struct str *what = to == STDERR_FILENO ? &answer->err : &answer->out;
		if ((to == STDOUT_FILENO || to == STDERR_FILENO) &&
			file_write_all(s->fds[i].from, str_text(what), what->len, &ignored) < 0)
			continue;
	}
}

/* A child that has ended with the answer's status: its "pidfd" is readable and holds status + 1. */
static int answered_child(
	const struct spawn *s, const struct captured *answer, struct child *ret, struct error *err)
{
	int fd = eventfd((unsigned)answer->status + 1, EFD_CLOEXEC);

	if (fd < 0)
		return error_set_errno(
			err, ERROR_IO, errno, "cannot answer for %s", quoted_string(s->path));
	write_answer(s, answer);
	*ret = (struct child){.pid = SPAWN_ANSWERED_PID, .pidfd = fd, .keeper = -1};
	return 0;
}

int spawn_start(const struct spawn *s, struct child *ret, struct error *err)
{
	AUTO(captured) answer = {.out = STR_INIT(SIZE_MAX / 2), .err = STR_INIT(SIZE_MAX / 2)};

	if (spawn_answer(s, &answer))
		return answered_child(s, &answer, ret, err);
	return spawn_start_real(s, ret, err);
}

void captured_done(struct captured *c)
{
	str_done(&c->out);
	str_done(&c->err);
}

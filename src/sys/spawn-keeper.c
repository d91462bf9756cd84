/*
 * Both ends of a keeper (spawn-keeper.h). Its command line is NUMBER keep|release|orphans PATH
 * ARGV…, with NUMBER its end of a socket pair. It says first whether PATH could be executed (an
 * errno, and a pidfd of the child beside 0), and, of a child that it keeps, at its end the wait
 * status. A keeper that is killed says nothing more: its child then counts as killed. One that gets
 * the orphans, too, stays until the other end is closed.
 */
#include "sys/spawn-keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/strv.h"
#include "sys/program.h"
#include "sys/spawn-internal.h"

enum { WORDS_MAX = 16384, KEEPER_FAILED = 125, ORPHANS_EVERY_MS = 5 };

static const char *used;

void spawn_keeper_use(const char *program)
{
	used = program;
}

char *spawn_keeper_program(void)
{
	auto_free char *path = NULL;

	if (!used)
		return NULL;
	path = used[0] == '/' ? mem_strdup(used) : program_path(used);
	return access(path, X_OK) == 0 ? TAKE_PTR(path) : NULL;
}

bool spawn_keeper_used(void)
{
	auto_free char *program = spawn_keeper_program();

	return program != NULL;
}

/* A number and, if fd >= 0, a descriptor. */
static void say(int socket, int32_t number, int fd)
{
	struct iovec iov = {&number, sizeof(number)};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd >= 0) {
		control.align = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(sizeof(int))};
		memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
	}
	(void)!sendmsg(socket, &m, MSG_NOSIGNAL);
}

/* False: the other end is gone. */
static bool hear(int socket, int32_t *ret_number, int *ret_fd)
{
	struct iovec iov = {ret_number, sizeof(*ret_number)};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t n;

	do
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*ret_number))
		return false;
	if (m.msg_controllen >= CMSG_LEN(sizeof(int)) && control.align.cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(&control.align), sizeof(*ret_fd));
	return true;
}

/* Its exit is not asked for: in this process it may be gone already. */
static void reap(pid_t pid)
{
	siginfo_t info;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED) < 0 && errno == EINTR)
		continue;
}

static int start_keeper(
	const struct spawn *s, const char *program, int socket, pid_t *ret_pid, struct error *err)
{
	AUTO(strv) argv = STRV_INIT(WORDS_MAX);
	struct spawn k = *s;
	int number = spawn_highest_fd(s) + 1;

	strv_add(&argv, "cloop-keeper");
	strv_add(&argv, "--keep");
	strv_addf(&argv, "%d", number);
	strv_add(&argv, s->detached ? "release" : s->orphans ? "orphans" : "keep");
	strv_add(&argv, s->path);
	for (char *const *word = s->argv; *word; word++)
		if (strv_add(&argv, *word) < 0)
			return error_set(err, ERROR_IO, "more than %d words", WORDS_MAX);
	k.path = program;
	k.argv = argv.v;
	k.new_session = true;
	k.fds[k.n_fds++] = (struct spawn_fd){socket, number};
	return spawn_start_unwatched(&k, ret_pid, err);
}

int spawn_keeper_start(
	const struct spawn *s, const char *program, struct child *ret, struct error *err)
{
	int32_t failed = KEEPER_FAILED;
	int ends[2];
	auto_fd int pidfd = -1;
	pid_t pid = -1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_set_errno(err, ERROR_IO, errno, "making a socket pair");
	auto_fd int ours = ends[0];
	auto_fd int theirs = ends[1];
	if (start_keeper(s, program, theirs, &pid, err) < 0)
		return -1;
	close(TAKE_FD(theirs));
	bool good = hear(ours, &failed, &pidfd) && failed == 0 && pidfd >= 0;
	if (!good || s->detached)
		reap(pid);
	if (!good)
		return error_set_errno(err, ERROR_IO, failed == KEEPER_FAILED ? EAGAIN : failed,
			"cannot execute %s", quoted_string(s->path));
	*ret = (struct child){.pid = s->detached ? -1 : pid,
		.pidfd = TAKE_FD(pidfd),
		.keeper = s->detached ? -1 : TAKE_FD(ours)};
	return 0;
}

static bool ended(const struct child *c, int wait_ms)
{
	struct pollfd p = {.fd = c->pidfd, .events = POLLIN};
	int r;

	do
		r = poll(&p, 1, wait_ms);
	while (r < 0 && errno == EINTR);
	return r > 0;
}

int spawn_keeper_collect(struct child *c, bool nohang, int *ret_status)
{
	int32_t status = SIGKILL;
	int none = -1;

	if (!ended(c, nohang ? 0 : -1))
		return 1;
	if (!hear(c->keeper, &status, &none))
		status = SIGKILL;
	close(TAKE_FD(c->keeper));
	reap(c->pid);
	*ret_status = status;
	return 0;
}

/* While the child lives, its process group is there, and the number means no other one. */
void spawn_keeper_kill(const struct child *c)
{
	if (!ended(c, 0))
		kill(-c->pid, SIGKILL);
}

/* ---- The program ---- */

static int start_kept(const char *path, char **argv, bool release, pid_t *ret_pid)
{
	posix_spawnattr_t attr;

	posix_spawnattr_init(&attr);
	if (release)
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
	int r = posix_spawn(ret_pid, path, NULL, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	return r;
}

/* Until that one ends, who else comes is only taken. */
static void await(pid_t pid, int socket)
{
	int status;
	pid_t r;

	while ((r = waitpid(-1, &status, 0)) != pid)
		if (r < 0 && errno != EINTR)
			return;
	say(socket, status, -1);
}

static void take_orphans(int socket)
{
	struct pollfd p = {.fd = socket, .events = POLLIN};

	while (poll(&p, 1, ORPHANS_EVERY_MS) <= 0)
		while (waitpid(-1, NULL, WNOHANG) > 0)
			continue;
}

int spawn_keeper_main(char **words)
{
	uint64_t number;
	pid_t pid;

	if (!words[0] || !words[1] || !words[2] || !words[3] ||
		num_parse(text_of(words[0]), 1023, &number) != NUM_OK || number <= 2)
		return KEEPER_FAILED;
	int socket = (int)number;
	bool release = strcmp(words[1], "release") == 0;
	bool orphans = strcmp(words[1], "orphans") == 0;
	fcntl(socket, F_SETFD, FD_CLOEXEC);
	if (orphans)
		prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	int r = start_kept(words[2], words + 3, release, &pid);
	if (r != 0) {
		say(socket, r, -1);
		return KEEPER_FAILED;
	}
	say(socket, 0, pidfd_open(pid, 0));
	if (release)
		return 0;
	/* Nobody is to wait for us who waits for the end of a pipe. */
	close_range(0, (unsigned)socket - 1, 0);
	close_range((unsigned)socket + 1, ~0U, 0);
	await(pid, socket);
	if (orphans)
		take_orphans(socket);
	return 0;
}

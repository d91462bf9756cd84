/*
 * Unlike spawn_capture(), both outputs share a pipe, and what is left of the group when the program
 * has ended is killed before it is collected: while it is a zombie, its number cannot mean anybody
 * else's group.
 */
#include "image/cosign-process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "sys/clock.h"

enum { CHUNK = 64 << 10, LAST_CHUNKS = 16 };
enum slot { SLOT_PIPE, SLOT_CHILD, SLOT_CANCEL, SLOT_COUNT };

struct attempt {
	const struct cosign_process *process;
	struct child child;
	int pipe; /* -1 after its end */
	struct str *output;
};

static void attempt_done(struct attempt *a)
{
	child_done(&a->child);
	cleanup_fd(&a->pipe);
}

/* False: there is nothing now, or nothing any more. */
static bool read_some(struct attempt *a)
{
	char chunk[CHUNK];
	ssize_t n = a->pipe < 0 ? 0 : read(a->pipe, chunk, sizeof(chunk));
	size_t room = a->output->max - a->output->len;

	if (n > 0) {
		str_add(a->output, chunk, (size_t)n < room ? (size_t)n : room);
		return true;
	}
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return errno == EINTR;
	cleanup_fd(&a->pipe);
	a->pipe = -1;
	return false;
}

static int start(struct attempt *a, const struct strv *argv, struct error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(err, ERROR_IO, errno, "cannot make a pipe");
	a->pipe = ends[0];
	auto_fd int writing = ends[1];
	if (fcntl(a->pipe, F_SETFL, O_NONBLOCK) < 0)
		return error_set_errno(err, ERROR_IO, errno, "cannot set up a pipe");
	struct spawn s = {
		.path = a->process->program,
		.argv = argv->v,
		.env = a->process->env->v,
		.new_session = true,
		.fds = {{writing, STDOUT_FILENO}, {writing, STDERR_FILENO}},
		.n_fds = 2,
	};
	return spawn_start(&s, &a->child, err);
}

static int time_left(const struct attempt *a)
{
	int64_t left = a->process->deadline_ms - clock_boottime_ms();

	return left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

/* Until it has ended (COSIGN_SUCCEEDED, whatever its status) or is given up. */
static int watch(struct attempt *a, enum cosign_end *ret, struct error *err)
{
	for (;;) {
		struct pollfd p[SLOT_COUNT] = {
			[SLOT_PIPE] = {.fd = a->pipe, .events = POLLIN},
			[SLOT_CHILD] = {.fd = a->child.pidfd, .events = POLLIN},
			[SLOT_CANCEL] = {.fd = a->process->cancel_fd, .events = POLLIN},
		};
		int left = time_left(a);
		if (poll(p, SLOT_COUNT, left) < 0 && errno != EINTR)
			return error_set_errno(err, ERROR_IO, errno, "cannot wait for cosign");
		if (p[SLOT_CHILD].revents)
			*ret = COSIGN_SUCCEEDED;
		else if (p[SLOT_CANCEL].revents)
			*ret = COSIGN_CANCELLED;
		else if (left == 0)
			*ret = COSIGN_TIMED_OUT;
		else {
			read_some(a);
			continue;
		}
		return 0;
	}
}

int cosign_process_run(const struct cosign_process *p, const struct strv *argv,
	enum cosign_end *ret, struct str *output, struct error *err)
{
	__attribute__((cleanup(attempt_done))) struct attempt a = {
		.process = p, .child = CHILD_INIT, .pipe = -1, .output = output};
	enum cosign_end end = COSIGN_FAILED;
	int status;

	if (start(&a, argv, err) < 0 || watch(&a, &end, err) < 0)
		return -1;
	child_kill(&a.child);
	/* What a pipe holds at most; a process that left the group may go on writing. */
	for (int i = 0; i < LAST_CHUNKS && read_some(&a); i++)
		;
	if (child_wait(&a.child, &status, err) < 0)
		return -1;
	bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	*ret = end == COSIGN_SUCCEEDED && !good ? COSIGN_FAILED : end;
	return 0;
}

#include "executor/container/driver/handover.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/container/driver/shim.h"
#include "executor/rundir/record.h"
#include "sys/clock.h"
#include "sys/fault.h"

enum { ANSWER_MAX = 65536, LOOK_EVERY_MS = 20, SUCCESSORS_MAX = 10 };

int handover_send(int socket, const int *fds, size_t n, struct error *err)
{
	char byte = 'L';
	struct iovec iov = {&byte, 1};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(HANDOVER_FDS_MAX * sizeof(int))];
	} control = {.bytes = {0}};
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(n * sizeof(int)),
	};
	struct cmsghdr *c = &control.align;

	*c = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(n * sizeof(int))};
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	if (sendmsg(socket, &m, MSG_NOSIGNAL) == 1)
		return 0;
	/* It is dead already, which the missing answer will say. */
	return errno == EPIPE || errno == ECONNRESET
		       ? 0
		       : error_set_errno(err, ERROR_SHIM_FAILED, errno,
				 "handing the run to its supervisor");
}

/*
 * The supervisor's answer. 0 the workload runs; 1 the supervisor died without one; -1 refused, or
 * cancelled by us: the supervisor sees the shutdown and undoes the start before it answers.
 */
static int wait_for_answer(int socket, int cancel_fd, struct error *err)
{
	auto_free char *bytes = mem_alloc(ANSWER_MAX);
	struct pollfd p[2] = {
		{.fd = socket, .events = POLLIN}, {.fd = cancel_fd, .events = POLLIN}};

	for (;;) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return error_set_errno(err, ERROR_IO, errno, "waiting for the supervisor");
		if (p[1].revents) {
			shutdown(socket, SHUT_WR);
			p[1].fd = -1;
		}
		if (p[0].revents)
			break;
	}
	ssize_t n = recv(socket, bytes, ANSWER_MAX, 0);
	if (n <= 0)
		return 1;
	auto_json *answer = json_read((struct text){bytes, (size_t)n}, ANSWER_MAX,
		"the supervisor's answer", ERROR_SHIM_FAILED, err);
	if (!answer)
		return -1;
	if (json_get_bool(answer, "ok", false))
		return 0;
	error_from_json(err, answer);
	return -1;
}

/*
 * What the record says of a run whose supervisor died: 0 it was let go, 1 not decided yet, -1 it
 * ended before.
 */
static int judge_record(const struct rundir *run, struct error *err)
{
	auto_json *record = rundir_read(run, RECORD_FILE, err);

	if (!record)
		return -1;
	if (!record_final(record))
		return strcmp(record_state(record), "running") == 0 ? 0 : 1;
	if (!text_is(json_get_text(record, "outcome"), "start_failed"))
		return 0;
	error_from_json(err, record);
	return -1;
}

static bool readable(int fd, int64_t wait_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, (int)wait_ms) > 0;
}

/*
 * Our successor works, or somebody else holds the run: one that another command started, or the
 * dead supervisor, which is not gone until the kernel has closed its last file. Looks once in a
 * while.
 */
static bool somebody_works(const struct handover *h, const struct child *child)
{
	auto_error struct error err = ERROR_INIT;

	if (!readable(child->pidfd, LOOK_EVERY_MS))
		return true;
	if (rundir_supervised(h->run, &err) != 1)
		return false;
	clock_sleep_ms(LOOK_EVERY_MS);
	return true;
}

/* Successors, until one has found out what became of the start. */
static int let_succeed(const struct handover *h, struct child *child, struct error *err)
{
	for (unsigned i = 0; i < SUCCESSORS_MAX; i++) {
		close(child->pidfd);
		*child = CHILD_INIT;
		if (shim_adopt(h->home, h->run->handle, child, err) < 0)
			return -1;
		do {
			int r = judge_record(h->run, err);
			if (r <= 0)
				return r;
			if (h->cancel_fd >= 0 && readable(h->cancel_fd, 0))
				return error_set(err, ERROR_START_CANCELLED,
					"the start was cancelled; its supervisor had died");
		} while (somebody_works(h, child));
	}
	return error_set(err, ERROR_SHIM_FAILED,
		"the supervisors of run %s die one after the other", h->run->handle);
}

static int start_shim(const struct handover *h, int socket, struct child *ret, struct error *err)
{
	/* Ours would keep a dead supervisor's run locked. */
	auto_fd int lock = TAKE_FD(*h->lock_fd);

	if (fault_hit("start:6-shim"))
		return error_set(err, ERROR_SHIM_FAILED, "fault injected at start:6-shim");
	if (shim_start(h->home, h->run->handle, lock, socket, ret, err) < 0)
		return error_prefix(err, "starting the supervisor");
	return 0;
}

int handover_run(const struct handover *h, struct error *err)
{
	int ends[2];
	struct child child = CHILD_INIT;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_set_errno(err, ERROR_IO, errno, "making a socket pair");
	auto_fd int ours = ends[0];
	auto_fd int theirs = ends[1];
	if (start_shim(h, theirs, &child, err) < 0)
		return -1;
	close(TAKE_FD(theirs));
	fault_hit("start:6-handover");
	int r = h->send(h->data, ours, err);
	if (r == 0)
		r = wait_for_answer(ours, h->cancel_fd, err);
	if (r == 1)
		r = let_succeed(h, &child, err);
	if (h->ret_supervisor)
		*h->ret_supervisor = child.pidfd;
	else if (child.pidfd >= 0)
		close(child.pidfd);
	return r;
}

bool handover_unrecorded(const struct rundir *run)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *record = rundir_read(run, RECORD_FILE, &err);

	return !(record && record_final(record)) && rundir_supervised(run, &err) == 0;
}

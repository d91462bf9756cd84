/*
 * A cancel is an epoll descriptor that holds an eventfd and a timer: functions of the tree that
 * give up know one descriptor that becomes readable, and nothing ever reads these two empty again.
 */
#include "lib/cancel.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "lib/error.h"
#include "sys/cancel.h"

struct cloop_cancel {
	int both; /* epoll of the other two */
	int event;
	int timer; /* -1 = no deadline */
};

void cloop_cancel_free(struct cloop_cancel *cancel)
{
	if (!cancel)
		return;
	cleanup_fd(&cancel->timer);
	cleanup_fd(&cancel->event);
	cleanup_fd(&cancel->both);
	free(cancel);
}

static int add(int epoll, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static int arm(struct cloop_cancel *cancel, int64_t timeout_ms)
{
	/* A value of zero would disarm it. */
	struct itimerspec at = {.it_value = {.tv_sec = timeout_ms / 1000,
					.tv_nsec = timeout_ms % 1000 * 1000000 + 1}};

	cancel->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (cancel->timer < 0 || timerfd_settime(cancel->timer, 0, &at, NULL) < 0)
		return -1;
	return add(cancel->both, cancel->timer);
}

int cloop_cancel_new(int64_t timeout_ms, struct cloop_cancel **ret, struct cloop_error *err)
{
	LIB_ERROR(e, err);

	if (LIB_MISSING(e, ret))
		return -1;
	struct cloop_cancel *cancel = mem_alloc(sizeof(*cancel));
	*cancel = (struct cloop_cancel){.timer = -1};
	cancel->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	cancel->both = epoll_create1(EPOLL_CLOEXEC);
	if (cancel->event < 0 || cancel->both < 0 || add(cancel->both, cancel->event) < 0 ||
		(timeout_ms >= 0 && arm(cancel, timeout_ms) < 0)) {
		error_set_errno(e, ERROR_IO, errno, "making a cancel");
		cloop_cancel_free(cancel);
		return -1;
	}
	*ret = cancel;
	return 0;
}

void cloop_cancel_trigger(const struct cloop_cancel *cancel)
{
	static const uint64_t one = 1;
	int kept = errno;

	if (cancel && write(cancel->event, &one, sizeof(one)) < 0)
		errno = kept; /* its counter is full: it is set */
	errno = kept;
}

bool cloop_cancel_is_set(const struct cloop_cancel *cancel)
{
	struct pollfd p = {.fd = lib_cancel_fd(cancel), .events = POLLIN};

	return cancel && poll(&p, 1, 0) > 0;
}

int cloop_cancel_fd(const struct cloop_cancel *cancel)
{
	return cancel ? cancel->event : -1;
}

int lib_cancel_fd(const struct cloop_cancel *cancel)
{
	return cancel ? cancel->both : -1;
}

int lib_cancel_check(const struct cloop_cancel *cancel, struct error *err)
{
	return cloop_cancel_is_set(cancel) ? error_set(err, ERROR_CANCELLED, "the caller gave up")
					   : 0;
}

int lib_cancel_begin(const struct cloop_cancel *cancel)
{
	return cancel_use(lib_cancel_fd(cancel));
}

void lib_cancel_end(const int *before)
{
	cancel_use(*before);
}

int lib_cancel_wait(const struct cloop_cancel *cancel, int fd, short events, struct error *err)
{
	struct pollfd p[] = {
		{.fd = fd, .events = events}, {.fd = lib_cancel_fd(cancel), .events = POLLIN}};

	while (poll(p, 2, -1) < 0)
		if (errno != EINTR)
			return error_set_errno(err, ERROR_IO, errno, "waiting");
	return p[1].revents ? lib_cancel_check(cancel, err) : 0;
}

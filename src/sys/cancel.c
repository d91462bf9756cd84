#include "sys/cancel.h"

#include <limits.h>
#include <poll.h>

#include "sys/clock.h"

static _Thread_local int used = -1;

int cancel_use(int fd)
{
	int before = used;

	used = fd;
	return before;
}

int cancel_fd(void)
{
	return used;
}

static bool readable(int64_t wait_ms)
{
	struct pollfd p = {.fd = used, .events = POLLIN};

	return poll(&p, 1, wait_ms > INT_MAX ? INT_MAX : (int)wait_ms) > 0;
}

bool cancel_asked(void)
{
	return used >= 0 && readable(0);
}

bool cancel_pause(int64_t ms)
{
	if (used >= 0)
		return readable(ms);
	clock_sleep_ms(ms);
	return false;
}

int cancel_refuse(struct error *err, const char *what)
{
	return error_set(err, ERROR_CANCELLED, "%s was cancelled", what);
}

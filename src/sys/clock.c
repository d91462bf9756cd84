#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"

enum { NS_PER_S = 1000000000, BOOT_ID_LEN = 36 };

static int64_t clock_ns(clockid_t which)
{
	struct timespec t;

	if (clock_gettime(which, &t) < 0)
		abort();
	return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

int64_t clock_boottime_ms(void)
{
	return clock_ns(CLOCK_BOOTTIME) / 1000000;
}

int64_t clock_next_ms(int64_t every_ms)
{
	return (clock_boottime_ms() / every_ms + 1) * every_ms;
}

int64_t clock_boottime_us(void)
{
	return clock_ns(CLOCK_BOOTTIME) / 1000;
}

int64_t clock_thread_us(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1000;
}

int64_t clock_realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

const char *clock_boot_id(void)
{
	static _Thread_local char id[BOOT_ID_LEN + 1];
	char buf[BOOT_ID_LEN + 2];

	if (id[0])
		return id;
	auto_fd int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf));
	if (n >= BOOT_ID_LEN)
		memcpy(id, buf, BOOT_ID_LEN);
	return id;
}

static int64_t floor_seconds(int64_t ns)
{
	return ns / NS_PER_S - (ns % NS_PER_S < 0 ? 1 : 0);
}

/* "2026-08-23T04:07:51", without what follows. */
static size_t format_seconds(int64_t s, char out[CLOCK_TEXT_SIZE])
{
	time_t when = (time_t)s;
	struct tm tm;

	gmtime_r(&when, &tm);
	return strftime(out, CLOCK_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
}

void clock_format(int64_t realtime_ns, char out[CLOCK_TEXT_SIZE])
{
	size_t n = format_seconds(floor_seconds(realtime_ns), out);

	snprintf(out + n, CLOCK_TEXT_SIZE - n, "Z");
}

void clock_format_ns(int64_t realtime_ns, char out[CLOCK_TEXT_SIZE])
{
	int64_t s = floor_seconds(realtime_ns);
	size_t n = format_seconds(s, out);

	snprintf(out + n, CLOCK_TEXT_SIZE - n, ".%09dZ", (int)(realtime_ns - s * NS_PER_S));
}

void clock_sleep_ms(int64_t ms)
{
	int64_t until = clock_ns(CLOCK_BOOTTIME) + ms * 1000000;
	struct timespec t = {until / NS_PER_S, until % NS_PER_S};

	while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &t, NULL) == EINTR)
		continue;
}

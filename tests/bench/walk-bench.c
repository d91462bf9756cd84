/*
 * walk-bench DIR: walks it once as a sample does (limits/walk.h) and prints what that took. For
 * bench.py, which compares it with du.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "limits/walk.h"
#include "sys/clock.h"
#include "sys/file.h"

/* A line of /proc/self/status in KiB; getrusage would tell the peak of who started us. */
static long long memory_kib(const char *key)
{
	AUTO(str) text = STR_INIT(1 << 16);
	struct text rest, line, value;
	uint64_t n = 0;

	if (file_read_at(AT_FDCWD, "/proc/self/status", (1 << 16) - 1, &text) < 0)
		return 0;
	rest = text_of(str_text(&text));
	while (text_split(&rest, '\n', &line))
		if (text_starts(line, key)) {
			value = text_trim(text_after(line, strlen(key)));
			value.len -= value.len > 3 ? 3 : 0; /* " kB" */
			if (num_parse(value, UINT64_MAX, &n) == NUM_OK)
				return (long long)n;
		}
	return 0;
}

int main(int argc, char **argv)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(walk_result) found = {0};
	AUTO_PTR(walk) w = walk_new(&(struct walk_bounds){.deadline_ms = 0});
	struct walk_root root = {.at = AT_FDCWD, .path = argc > 1 ? argv[1] : "."};
	long long before = memory_kib("VmRSS:");
	int64_t begun = clock_boottime_us();
	if (walk_root(w, &root, &found, &err) != 0) {
		fprintf(stderr, "walk-bench: %s\n", err.message);
		return 1;
	}
	int64_t took = clock_boottime_us() - begun;
	printf("%llu entries, %llu bytes, %s, %.1f ms, %lld KiB more\n",
		(unsigned long long)found.entries, (unsigned long long)found.bytes,
		walk_reason_text(found.reason), (double)took / 1000, memory_kib("VmHWM:") - before);
	return 0;
}

#include "limits/disk-limit.h"

enum {
	ENTRIES_MIN = 100000,
	ENTRIES_PER_MB = 512,
	SLACK_MIN_MB = 16,
	SLACK_PART = 16,
};

uint64_t disk_limit_used_mb(int64_t used_bytes)
{
	uint64_t used = used_bytes > 0 ? (uint64_t)used_bytes : 0;

	return used / DISK_MB + (used % DISK_MB ? 1 : 0);
}

bool disk_limit_over(uint64_t used_bytes, uint64_t limit_mb)
{
	return limit_mb > 0 && used_bytes > 0 && (used_bytes - 1) / DISK_MB >= limit_mb;
}

bool disk_limit_near(uint64_t used_bytes, uint64_t limit_mb)
{
	/* 10 * used >= 9 * limit, without an overflow. */
	uint64_t limit = limit_mb * DISK_MB;

	return used_bytes >= limit || 10 * used_bytes >= 9 * limit;
}

struct disk_limit disk_limit_resolve(
	uint64_t spec_mb, const uint64_t *ceilings_mb, size_t n, struct text label)
{
	uint64_t ceiling = 0, limit = spec_mb;

	for (size_t i = 0; i < n; i++)
		if (ceilings_mb[i] > 0 && (ceiling == 0 || ceilings_mb[i] < ceiling))
			ceiling = ceilings_mb[i];
	if (ceiling > 0 && (limit == 0 || ceiling < limit))
		limit = ceiling;
	if (limit == 0)
		return (struct disk_limit){0, ""};
	return (struct disk_limit){
		limit, ceiling == limit || text_is(label, "ceiling") ? "ceiling" : "spec"};
}

const char *disk_limit_source(struct text word)
{
	return text_is(word, "spec") ? "spec" : text_is(word, "ceiling") ? "ceiling" : "";
}

uint64_t disk_limit_entries(uint64_t limit_mb)
{
	uint64_t n = limit_mb * ENTRIES_PER_MB;

	return n > ENTRIES_MIN ? n : ENTRIES_MIN;
}

uint64_t disk_limit_quota(uint64_t limit_mb, uint64_t baseline_bytes)
{
	uint64_t limit = limit_mb * DISK_MB, slack = limit / SLACK_PART;

	return limit + baseline_bytes +
	       (slack > SLACK_MIN_MB * DISK_MB ? slack : SLACK_MIN_MB * DISK_MB);
}

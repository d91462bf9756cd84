/* Disk limits and what is said of them (disk-and-secrets.md §2, §7.2, §7.3, §10). Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

#define DISK_MB (UINT64_C(1) << 20)

/* Whole MB, rounded up; nothing below 0. */
uint64_t disk_limit_used_mb(int64_t used_bytes);
/* used > limit, strictly. A limit of 0 is none. */
bool disk_limit_over(uint64_t used_bytes, uint64_t limit_mb);
/* At least 90 % of the limit. */
bool disk_limit_near(uint64_t used_bytes, uint64_t limit_mb);

struct disk_limit {
	uint64_t limit_mb;  /* 0 = none */
	const char *source; /* "", "spec", "ceiling" */
};
/*
 * Smaller non-zero of the file's value and the lowest of the ceilings (0 = says nothing), and where
 * it comes from. `label`: value of the run's label disk_limit_source.
 */
struct disk_limit disk_limit_resolve(
	uint64_t spec_mb, const uint64_t *ceilings_mb, size_t n, struct text label);
/* Where a limit in force comes from: "spec" or "ceiling", by a word of a record; else "". */
const char *disk_limit_source(struct text word);

/* Names that a run may add to those found at its start. */
uint64_t disk_limit_entries(uint64_t limit_mb);
/* Hard block limit of a project quota, in bytes (§10). */
uint64_t disk_limit_quota(uint64_t limit_mb, uint64_t baseline_bytes);

/* A limit that was passed, on record (disk-and-secrets.md §8.3). Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct disk_breach {
	uint64_t used_bytes, limit_mb;
	const char *source; /* "", "spec", "ceiling"; static */
	char *path;         /* NULL = not known; owned */
	/* Both 0 unless it was passed by names (§7.2). */
	uint64_t entries, entries_limit;
	int64_t measured_at; /* seconds since 1970; 0 = not known */
};
#define DISK_BREACH_INIT ((struct disk_breach){.source = ""})
void disk_breach_done(struct disk_breach *b);

/*
 * What is kept of a breach that comes from outside this process, used_bytes, limit_mb, source and
 * path: 0, or 1 = nothing, since the outcome is not `disk_limit`, or it is malformed, or not over
 * the limit.
 */
int disk_breach_read(struct text outcome, const json_t *breach, struct disk_breach *ret);
/* Of our own run directory: the same, and a breach by names counts too. */
int disk_breach_restore(const json_t *breach, struct disk_breach *ret);
/* {used_bytes, limit_mb, source, path?, entries?, entries_limit?, measured_at?} */
must_check json_t *disk_breach_to_json(const struct disk_breach *b);
/*
 * Path as it may be shown: without control characters, line separators, bidirectional controls and
 * U+FFFD, at most 512 bytes; what is no UTF-8 is dropped. Caller frees.
 */
must_check char *disk_breach_path(struct text path);
/* "stopped at its disk limit: 70 MB used, the limit is 64 MB (from …)". Caller frees. */
must_check char *disk_breach_text(const struct disk_breach *b);
/* Where the limit comes from, for people: "from .cloop/sandbox.yaml resources.disk" … */
const char *disk_breach_origin(const char *source);

/*
 * <home>/audit-head: number and hash of the last row of the audit trail, outside the database, so
 * that a state.db that was replaced by an older one, or lost its newest rows with everything that
 * SQLite knows about them, shows (store/audit.h). Written after the commit: it is never ahead of
 * the trail, at most some rows behind. It proves nothing against whoever writes both files.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

struct witness {
	int64_t seq; /* 0: there is none, or it cannot be read */
	char hash[SHA256_HEX_SIZE];
};

/* What it says now. A file that is not of its form says nothing. */
struct witness witness_read(const char *home);
/*
 * Writes it, unless it says a higher number by now (another process was faster). A failure is a
 * warning; the row is in the trail.
 */
void witness_write(const char *home, const struct witness *w);

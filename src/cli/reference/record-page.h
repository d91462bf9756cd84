/* docs/reference/record.md: the members of a run's record. */
#pragma once

#include "base/str.h"

void record_page(struct str *out);

/* One member, by its path ("limits.clamps[].source"). */
struct record_page_row {
	const char *path, *type, *meaning;
};
/* The rows, ended by one without a path; for tests. */
extern const struct record_page_row record_page_rows[];

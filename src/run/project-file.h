/*
 * Files that cloop leaves in a project, below .cloop. The workload can write there: nothing that it
 * put into the way is followed, opened or waited for, and what we write belongs to the owner of the
 * project's directory and is written with no more than his rights.
 */
#pragma once

#include <stdbool.h>

#include "base/text.h"
#include "base/error.h"

struct project_file {
	const char *project; /* resolved path */
	const char *folder;  /* below .cloop, made if it is missing; NULL = .cloop itself */
	const char *name;
	bool make; /* .cloop, if it is missing */
};
/* Makes the project's .cloop, if it has none: before a run, whose doing it would seem to be. */
must_check int project_file_make_folder(const char *project, struct error *err);
/* Is there such a file (no link, no folder), as far as it can be seen? */
bool project_file_exists(const struct project_file *f);
/*
 * Replaces the file atomically (0644). 0, or 1 = the project has no .cloop and it is not to be
 * made. Errors: io; a link or anything else that is no directory in the place of a folder, too.
 */
must_check int project_file_write(
	const struct project_file *f, struct text bytes, struct error *err);

/* Rows of the audit trail that a dispatch writes (image-trust.md §12). */
#pragma once

#include "base/error.h"

/*
 * A dispatch was refused: if a rule of the image policy refused it (the error has a `rule`, and is
 * complete: denial.h), whichever place did, one row sandbox.image_denied is appended. executor_id:
 * the one that was chosen, or NULL. A row that cannot be written is a warning on stderr; the
 * refusal stands.
 */
void audit_refusal(const char *home, const char *project_dir, const char *executor_id,
	const struct error *refusal);

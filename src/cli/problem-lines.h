/* Problems of a text for people: "FILE:LINE:COLUMN: error: PATH: …" and the fix on its own line. */
#pragma once

#include "yaml/problem.h"

/* Prints errors, then warnings, on stdout. file is shown as it is given (escaped). */
void problem_lines_print(
	const char *file, const struct problems *errors, const struct problems *warnings);

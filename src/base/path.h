/* Paths as text. Pure. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

/* "Clean": absolute, no `//`, no `.` or `..` component, no trailing `/` but `/` itself. */
bool path_clean(struct text t);
/* path is `root` or lies below it, by components. */
bool path_at_or_below(struct text path, struct text root);
/* What stands before the last slash: "." without one, "/" below the root. Caller frees. */
must_check char *path_parent(const char *path);
/* What stands behind it; all of it without one. Inside of `path`. */
const char *path_name(const char *path);

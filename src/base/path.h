/* Paths as text. Pure. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

/* "Clean": absolute, no `//`, no `.` or `..` component, no trailing `/` but `/` itself. */
bool path_clean(struct text t);
/* path is `root` or lies below it, by components. */
bool path_at_or_below(struct text path, struct text root);

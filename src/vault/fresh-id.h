/* Identifiers that nobody can guess (disk-and-secrets.md §12): a prefix and 24 random hex digits.
 */
#pragma once

#include <stddef.h>

#include "base/error.h"

enum { FRESH_ID_DIGITS = 24 };

/* `size` must hold prefix, digits and NUL. -1: the system gives no random bytes (io). */
must_check int fresh_id(const char *prefix, char *out, size_t size, struct error *err);

/* Names of secrets (disk-and-secrets.md §12). */
#pragma once

#include "base/error.h"
#include "base/text.h"

/* `[A-Za-z0-9._-]{1,128}`, not `.` or `..`, not starting with `-`; secret_name_invalid (400). */
must_check int secret_name_check(struct text name, struct error *err);

/* How secrets of kind file are delivered (disk-and-secrets.md §16.5). Pure. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"

#define SECRET_FILE_VARIABLE "CLOOP_SECRET_FILE_" /* + the secret's name, by variable-name.h */

/* One plain name of 1-255 bytes (container-driver.md §5.13). -1: secret_name_invalid. */
must_check int secret_file_name_check(struct text name, struct error *err);
/* 0400, 0500, 0600, 0700. */
bool secret_file_mode_valid(mode_t mode);
/* `0400`, `0500`, `0600`, `0700`, with or without the 0. -1: secret_mode_invalid. */
must_check int secret_file_mode_parse(struct text t, mode_t *ret, struct error *err);

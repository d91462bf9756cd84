/* Values as a config file holds them. Pure. */
#pragma once

#include <stddef.h>

#include "base/str.h"
#include "base/text.h"

/* Plain where YAML reads it as itself, in a block and between brackets; else "quoted". */
void edit_value_write(struct str *out, struct text t);
/* [a, b] */
void edit_value_write_list(struct str *out, char *const *values, size_t n);

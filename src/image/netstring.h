/* Netstrings, LENGTH:BYTES, — texts in a row that no other row could give, to be hashed. */
#pragma once

#include <stdint.h>

#include "base/text.h"

void netstring_add(struct str *out, struct text t);
void netstring_add_string(struct str *out, const char *s);
/* In decimal. */
void netstring_add_number(struct str *out, uint64_t n);

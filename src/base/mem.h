/*
 * Allocation that aborts. For sizes that we choose; whatever an outsider sizes goes through the
 * capped containers (str.h, strv.h), which fail first.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "base/cleanup.h"

/* All of these never return NULL: out of memory is reported on stderr and aborts. */
must_check void *mem_alloc(size_t size);                   /* zeroed; size 0 gives 1 byte */
must_check void *mem_grow(void *p, size_t n, size_t size); /* realloc to n * size, checked */
must_check char *mem_strdup(const char *s);
must_check char *mem_strndup(const char *s, size_t n); /* exactly n bytes (NULs included) + NUL */
must_check char *mem_printf(const char *fmt, ...) printf_like(1, 2);
must_check char *mem_vprintf(const char *fmt, va_list ap) printf_like(1, 0);

/* Replaces *where by a copy of s (NULL allowed), freeing what was there. */
void mem_set_string(char **where, const char *s);

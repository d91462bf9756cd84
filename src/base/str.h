/*
 * A growing byte buffer with a maximum given at birth (architecture: everything that an outsider
 * sizes has one). Always NUL-terminated behind its length, so `s.data` may be used as a C string
 * once something was added; str_text() never is NULL.
 *
 * A buffer that would pass its maximum takes nothing, remembers that in `full`, and answers -1;
 * a caller may add several pieces and check once with str_full().
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct str {
	char *data;
	size_t len;
	size_t cap;
	size_t max; /* bytes, not counting the NUL */
	bool full;
};

#define STR_INIT(maximum) ((struct str){.max = (maximum)})

void str_done(struct str *s);
/* Forgets the content and `full`, keeps the memory. */
void str_reset(struct str *s);

int str_add(struct str *s, const void *bytes, size_t n);
int str_add_text(struct str *s, const char *text);
int str_add_char(struct str *s, char c);
int str_addf(struct str *s, const char *fmt, ...) printf_like(2, 3);
int str_vaddf(struct str *s, const char *fmt, va_list ap) printf_like(2, 0);

/* Room for n more bytes at data + len, to be filled by the caller who then adds to len. */
must_check char *str_reserve(struct str *s, size_t n);

static inline bool str_full(const struct str *s)
{
	return s->full;
}
static inline const char *str_text(const struct str *s)
{
	return s->data ? s->data : "";
}
/* Hands the memory over (caller frees; never NULL) and leaves the buffer empty. */
must_check char *str_take(struct str *s);

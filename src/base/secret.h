/*
 * A secret in memory (container-driver.md §15.1): in pages of its own, which are locked into RAM as
 * far as the user's limit for that goes (RLIMIT_MEMLOCK; beyond it, it is kept all the same) and
 * are in no core dump; made at its size, never by printf (glibc's leaves pieces behind), and wiped
 * at the end.
 */
#pragma once

#include "base/text.h"

struct secret {
	char *p; /* with a NUL behind it; NULL = there is none; else made here */
	size_t len;
};
/* Wipes and frees it, and leaves none. */
void secret_done(struct secret *s);

/* `len` zero bytes. What *ret held is not looked at. Out of memory aborts, as mem_alloc() does. */
void secret_make(size_t len, struct secret *ret);
/* The pieces one after the other. What *ret held is not looked at. */
void secret_concat(const struct text *pieces, size_t n, struct secret *ret);
#define SECRET_CONCAT(ret, ...) \
	secret_concat((struct text[]){__VA_ARGS__}, \
		sizeof((struct text[]){__VA_ARGS__}) / sizeof(struct text), (ret))

static inline struct text secret_text(const struct secret *s)
{
	return (struct text){s->p, s->len};
}

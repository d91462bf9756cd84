/*
 * A secret in memory: made in one block of its exact size, never by printf (glibc's leaves pieces
 * behind), and wiped at the end.
 */
#pragma once

#include "base/text.h"

struct secret {
	char *p; /* with a NUL behind it; NULL = there is none */
	size_t len;
};
/* Wipes and frees it, and leaves none. */
void secret_done(struct secret *s);

/* The pieces one after the other. What *ret held is not looked at. */
void secret_concat(const struct text *pieces, size_t n, struct secret *ret);
#define SECRET_CONCAT(ret, ...) \
	secret_concat((struct text[]){__VA_ARGS__}, \
		sizeof((struct text[]){__VA_ARGS__}) / sizeof(struct text), (ret))

static inline struct text secret_text(const struct secret *s)
{
	return (struct text){s->p, s->len};
}

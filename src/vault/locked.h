/*
 * Memory for keys and plaintext (disk-and-secrets.md §13): libsodium's, which is locked into RAM as
 * far as the limits allow, kept out of core dumps, between guard pages, and wiped when it is freed.
 */
#pragma once

#include "base/text.h"

struct locked {
	unsigned char *p; /* with a NUL behind it; NULL = there is none */
	size_t len;
};
#define LOCKED_INIT ((struct locked){NULL, 0})
/* Wipes and frees it, and leaves none. */
void locked_done(struct locked *m);

/* n zero bytes; what *m held is wiped. Never fails: out of memory aborts, as mem_alloc() does. */
void locked_make(struct locked *m, size_t n);
void locked_copy(struct locked *m, struct text bytes);
/* Keeps the first n bytes and wipes the rest. */
void locked_cut(struct locked *m, size_t n);

static inline struct text locked_text(const struct locked *m)
{
	return (struct text){(const char *)m->p, m->len};
}
/*
 * From here on this process leaves no core dump, and no other process of the same user can look
 * into it. Starting a program ends it, for that program. Called by whatever holds a key.
 */
void locked_process(void);

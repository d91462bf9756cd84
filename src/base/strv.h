/*
 * A list of C strings that owns its items, NULL-terminated at every moment (ready for exec), with
 * a maximum number of items given at birth.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct strv {
	char **v; /* NULL while nothing was added; else v[n] is NULL */
	size_t n;
	size_t cap;
	size_t max;
};

#define STRV_INIT(maximum) ((struct strv){.max = (maximum)})
#define strv_foreach(item, list) \
	for (char **item = (list)->v; item && item < (list)->v + (list)->n; item++)

void strv_done(struct strv *l);
/* -1 when the list is at its maximum; nothing was added then. strv_take() owns s in any case. */
int strv_add(struct strv *l, const char *s);
int strv_add_n(struct strv *l, const char *s, size_t n);
int strv_addf(struct strv *l, const char *fmt, ...) printf_like(2, 3);
int strv_take(struct strv *l, char *s);
int strv_add_all(struct strv *l, const struct strv *other);
/* Words that a NULL ends, as far as there is room. */
int strv_add_words(struct strv *l, const char *const *words);
#define STRV_ADD(l, ...) strv_add_words((l), (const char *const[]){__VA_ARGS__, NULL})

bool strv_has(const struct strv *l, const char *s);
/* Sorts by bytes. */
void strv_sort(struct strv *l);
/* Items joined with `separator`; caller frees. */
must_check char *strv_join(const struct strv *l, const char *separator);

#include "base/strv.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

void strv_done(struct strv *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	l->v = NULL;
	l->n = l->cap = 0;
}

int strv_take(struct strv *l, char *s)
{
	if (l->n >= l->max) {
		free(s);
		return -1;
	}
	if (l->n + 1 >= l->cap) {
		l->cap = l->cap ? l->cap * 2 : 8;
		l->v = mem_grow(l->v, l->cap, sizeof(*l->v));
	}
	l->v[l->n++] = s;
	l->v[l->n] = NULL;
	return 0;
}

int strv_add(struct strv *l, const char *s)
{
	return strv_take(l, mem_strdup(s));
}

int strv_add_n(struct strv *l, const char *s, size_t n)
{
	return strv_take(l, mem_strndup(s, n));
}

int strv_addf(struct strv *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *s = mem_vprintf(fmt, ap);
	va_end(ap);
	return strv_take(l, s);
}

int strv_add_all(struct strv *l, const struct strv *other)
{
	for (size_t i = 0; i < other->n; i++)
		if (strv_add(l, other->v[i]) < 0)
			return -1;
	return 0;
}

int strv_add_words(struct strv *l, const char *const *words)
{
	for (; *words; words++)
		if (strv_add(l, *words) < 0)
			return -1;
	return 0;
}

bool strv_has(const struct strv *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], s) == 0)
			return true;
	return false;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void strv_sort(struct strv *l)
{
	if (l->n > 1)
		qsort(l->v, l->n, sizeof(*l->v), compare);
}

char *strv_join(const struct strv *l, const char *separator)
{
	AUTO(str) out = STR_INIT((size_t)-2);

	for (size_t i = 0; i < l->n; i++) {
		if (i > 0)
			str_add_text(&out, separator);
		str_add_text(&out, l->v[i]);
	}
	return str_take(&out);
}

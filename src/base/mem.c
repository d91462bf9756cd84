#include "base/mem.h"

#include <stdint.h>
#include <string.h>

static void *check(void *p)
{
	if (p)
		return p;
	fputs("cloop: out of memory\n", stderr);
	abort();
}

void *mem_alloc(size_t size)
{
	return check(calloc(1, size ? size : 1));
}

void *mem_grow(void *p, size_t n, size_t size)
{
	return check(reallocarray(p, n ? n : 1, size));
}

char *mem_strdup(const char *s)
{
	return check(strdup(s));
}

char *mem_strndup(const char *s, size_t n)
{
	char *copy = check(malloc(n + 1));

	memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *mem_vprintf(const char *fmt, va_list ap)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	return check(text);
}

char *mem_printf(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *text = mem_vprintf(fmt, ap);
	va_end(ap);
	return text;
}

void mem_set_string(char **where, const char *s)
{
	char *copy = s ? mem_strdup(s) : NULL;

	free(*where);
	*where = copy;
}

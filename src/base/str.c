#include "base/str.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

void str_done(struct str *s)
{
	free(s->data);
	s->data = NULL;
	s->len = s->cap = 0;
}

void str_reset(struct str *s)
{
	s->len = 0;
	s->full = false;
	if (s->data)
		s->data[0] = '\0';
}

char *str_reserve(struct str *s, size_t n)
{
	/* The second is about a maximum of SIZE_MAX: the NUL needs a byte too. */
	if (s->len > s->max || n > s->max - s->len || n >= SIZE_MAX - s->len) {
		s->full = true;
		return NULL;
	}
	size_t need = s->len + n + 1;
	if (need > s->cap) {
		size_t cap = s->cap ? s->cap : 64;
		while (cap < need)
			cap = cap > SIZE_MAX / 2 ? need : cap * 2;
		s->data = mem_grow(s->data, cap, 1);
		s->cap = cap;
		s->data[s->len] = '\0';
	}
	return s->data + s->len;
}

int str_add(struct str *s, const void *bytes, size_t n)
{
	char *room = str_reserve(s, n);

	if (!room)
		return -1;
	if (n > 0)
		memcpy(room, bytes, n);
	s->len += n;
	s->data[s->len] = '\0';
	return 0;
}

int str_add_text(struct str *s, const char *text)
{
	return str_add(s, text, strlen(text));
}

int str_add_char(struct str *s, char c)
{
	return str_add(s, &c, 1);
}

int str_vaddf(struct str *s, const char *fmt, va_list ap)
{
	auto_free char *text = mem_vprintf(fmt, ap);

	return str_add_text(s, text);
}

int str_addf(struct str *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int r = str_vaddf(s, fmt, ap);
	va_end(ap);
	return r;
}

char *str_take(struct str *s)
{
	char *data = s->data ? s->data : mem_strdup("");

	s->data = NULL;
	s->len = s->cap = 0;
	s->full = false;
	return data;
}

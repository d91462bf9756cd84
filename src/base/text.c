#include "base/text.h"

#include <stdio.h>

bool text_starts(struct text t, const char *prefix)
{
	size_t n = strlen(prefix);

	return t.len >= n && memcmp(t.p, prefix, n) == 0;
}

bool text_ends(struct text t, const char *suffix)
{
	size_t n = strlen(suffix);

	return t.len >= n && memcmp(t.p + t.len - n, suffix, n) == 0;
}

static bool equal_nocase(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ascii_to_lower(a[i]) != ascii_to_lower(b[i]))
			return false;
	return true;
}

bool text_starts_nocase(struct text t, const char *prefix)
{
	size_t n = strlen(prefix);

	return t.len >= n && equal_nocase(t.p, prefix, n);
}

bool text_ends_nocase(struct text t, const char *suffix)
{
	size_t n = strlen(suffix);

	return t.len >= n && equal_nocase(t.p + t.len - n, suffix, n);
}

bool text_is_nocase(struct text t, const char *s)
{
	return t.len == strlen(s) && equal_nocase(t.p, s, t.len);
}

bool text_has_byte(struct text t, char c)
{
	return t.len > 0 && memchr(t.p, c, t.len) != NULL;
}

bool text_has(struct text t, const char *needle)
{
	return t.len > 0 && memmem(t.p, t.len, needle, strlen(needle)) != NULL;
}

int text_compare(struct text a, struct text b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int r = n ? memcmp(a.p, b.p, n) : 0;

	return r ? r : (a.len > b.len) - (a.len < b.len);
}

struct text text_after(struct text t, size_t n)
{
	return (struct text){t.p + n, t.len - n};
}

struct text text_trim(struct text t)
{
	while (t.len > 0 && ascii_blank(t.p[0]))
		t = text_after(t, 1);
	while (t.len > 0 && ascii_blank(t.p[t.len - 1]))
		t.len--;
	return t;
}

struct text text_trim_line(struct text t)
{
	while (t.len > 0 && (t.p[0] == ' ' || t.p[0] == '\t'))
		t = text_after(t, 1);
	while (t.len > 0 && (t.p[t.len - 1] == ' ' || t.p[t.len - 1] == '\t'))
		t.len--;
	return t;
}

struct text text_value(struct text lines, const char *key)
{
	struct text line;
	size_t n = strlen(key);

	while (text_split(&lines, '\n', &line))
		if (text_starts(line, key) && line.len > n && line.p[n] == ':')
			return text_trim(text_after(line, n + 1));
	return (struct text){NULL, 0};
}

bool text_blank(struct text t)
{
	return text_trim(t).len == 0;
}

bool text_has_control(struct text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (ascii_control(t.p[i]))
			return true;
	return false;
}

bool text_split(struct text *rest, char separator, struct text *ret_part)
{
	if (!rest->p)
		return false;
	const char *at = rest->len ? memchr(rest->p, separator, rest->len) : NULL;
	if (!at) {
		*ret_part = *rest;
		*rest = (struct text){NULL, 0};
		return true;
	}
	*ret_part = (struct text){rest->p, (size_t)(at - rest->p)};
	*rest = text_after(*rest, ret_part->len + 1);
	return true;
}

bool text_all_word(struct text t, const char *extra)
{
	for (size_t i = 0; i < t.len; i++)
		if (!ascii_word(t.p[i], extra))
			return false;
	return true;
}

size_t utf8_next(struct text t, uint32_t *ret_char)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

	if (t.len == 0)
		return 0;
	const unsigned char *p = (const unsigned char *)t.p;
	if (p[0] < 0x80) {
		*ret_char = p[0];
		return 1;
	}
	size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || t.len < n)
		return 0;
	uint32_t c = p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3fu);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret_char = c;
	return n;
}

size_t utf8_step(struct text t)
{
	uint32_t ignored;
	size_t n = utf8_next(t, &ignored);

	return n > 0 ? n : 1;
}

bool utf8_valid(struct text t)
{
	while (t.len > 0) {
		uint32_t c;
		size_t n = utf8_next(t, &c);
		if (n == 0)
			return false;
		t = text_after(t, n);
	}
	return true;
}

bool utf8_control(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0, 0x1f},
		{0x7f, 0x9f},
		{0x61c, 0x61c},
		{0x200e, 0x200f},
		{0x2028, 0x202e},
		{0x2066, 0x2069},
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

size_t utf8_cut(struct text t, size_t max)
{
	if (t.len <= max)
		return t.len;
	size_t n = max;
	while (n > 0 && max - n < 4 && ((unsigned char)t.p[n] & 0xc0) == 0x80)
		n--;
	return ((unsigned char)t.p[n] & 0xc0) == 0x80 ? max : n;
}

void text_quote(struct str *out, struct text t, size_t max)
{
	size_t n = t.len < max ? t.len : max;

	str_add_char(out, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)t.p[i];
		if (c < 0x20 || c > 0x7e || c == '"' || c == '\\')
			str_addf(out, "\\x%02x", c);
		else
			str_add_char(out, (char)c);
	}
	str_add_text(out, n < t.len ? "...\"" : "\"");
}

const char *quoted(struct text t)
{
	enum { SHOWN = 128, RING = 8 };
	static _Thread_local char ring[RING][SHOWN * 4 + 8];
	static _Thread_local unsigned next;
	AUTO(str) out = STR_INIT(sizeof(ring[0]) - 1);

	text_quote(&out, t, SHOWN);
	char *slot = ring[next++ % RING];
	memcpy(slot, str_text(&out), out.len + 1);
	return slot;
}

const char *quoted_string(const char *s)
{
	return quoted(text_of(s ? s : ""));
}

void text_escape(struct str *out, struct text t, size_t max)
{
	if (t.len > max)
		t.len = utf8_cut(t, max);
	while (t.len > 0) {
		uint32_t c = 0;
		size_t n = utf8_next(t, &c);
		if (n == 0 || utf8_control(c)) {
			n = n ? n : 1;
			for (size_t i = 0; i < n; i++)
				str_addf(out, "\\x%02x", (unsigned char)t.p[i]);
		} else {
			str_add(out, t.p, n);
		}
		t = text_after(t, n);
	}
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

unsigned text_distance(struct text a, struct text b, unsigned limit)
{
	enum { LONGEST = 64 };
	unsigned row[LONGEST + 1];

	size_t gap = a.len > b.len ? a.len - b.len : b.len - a.len;
	if (gap > limit || b.len > LONGEST)
		return limit + 1;
	for (size_t j = 0; j <= b.len; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= a.len; i++) {
		unsigned diagonal = row[0];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b.len; j++) {
			bool same = ascii_to_lower(a.p[i - 1]) == ascii_to_lower(b.p[j - 1]);
			unsigned cost = diagonal + (same ? 0 : 1);
			diagonal = row[j];
			row[j] = min3(cost, row[j] + 1, row[j - 1] + 1);
		}
	}
	return row[b.len] > limit ? limit + 1 : row[b.len];
}

void hex_encode(const void *bytes, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[p[i] >> 4];
		out[2 * i + 1] = digits[p[i] & 15];
	}
	out[2 * n] = '\0';
}

bool text_is_hex(struct text t, size_t digits)
{
	if (t.len != digits)
		return false;
	for (size_t i = 0; i < t.len; i++)
		if (!ascii_digit(t.p[i]) && !(t.p[i] >= 'a' && t.p[i] <= 'f'))
			return false;
	return true;
}

static unsigned nibble(char c)
{
	return (unsigned)(ascii_digit(c) ? c - '0' : c - 'a' + 10);
}

int hex_decode(struct text t, void *out, size_t n)
{
	unsigned char *p = out;

	if (!text_is_hex(t, 2 * n))
		return -1;
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)(nibble(t.p[2 * i]) << 4 | nibble(t.p[2 * i + 1]));
	return 0;
}

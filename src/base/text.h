/*
 * Text with a length (it may hold NUL), ASCII classes that ignore the locale, UTF-8, and the one
 * way to quote an outsider's text in a message.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

/* A view: never owned, not NUL-terminated unless the maker says so. */
struct text {
	const char *p;
	size_t len;
};

#define TEXT(literal) ((struct text){(literal), sizeof(literal) - 1})

static inline struct text text_of(const char *s)
{
	return (struct text){s, s ? strlen(s) : 0};
}
static inline bool text_equal(struct text a, struct text b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}
static inline bool text_is(struct text a, const char *s)
{
	return text_equal(a, text_of(s));
}
bool text_starts(struct text t, const char *prefix);
bool text_ends(struct text t, const char *suffix);
bool text_starts_nocase(struct text t, const char *prefix);
bool text_ends_nocase(struct text t, const char *suffix);
bool text_is_nocase(struct text t, const char *s);
bool text_has_byte(struct text t, char c);
bool text_has(struct text t, const char *needle);
/* Bytewise order, shorter first on a common prefix: <0, 0, >0. */
int text_compare(struct text a, struct text b);
/* t without its first n bytes (n <= len). */
struct text text_after(struct text t, size_t n);
/* Without SPACE, TAB, LF, CR at both ends, and nothing else. */
struct text text_trim(struct text t);
/* Without SPACE and TAB at both ends: where CR and LF are characters like others. */
struct text text_trim_line(struct text t);
/* The value behind "KEY:" at the start of a line (/proc/PID/status), trimmed; p = NULL: none. */
struct text text_value(struct text lines, const char *key);
/* Nothing but SPACE, TAB, LF, CR (or empty). */
bool text_blank(struct text t);
/* Holds a byte 0x00-0x1F or 0x7F. */
bool text_has_control(struct text t);
/*
 * Cuts the part before the next `separator` off *rest; false at the end. "a,,b" gives a, "", b;
 * an empty text gives one empty part. Start with *rest = text, and rest->p = NULL marks the end.
 */
bool text_split(struct text *rest, char separator, struct text *ret_part);

static inline bool ascii_digit(char c)
{
	return c >= '0' && c <= '9';
}
static inline bool ascii_lower(char c)
{
	return c >= 'a' && c <= 'z';
}
static inline bool ascii_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}
static inline bool ascii_alpha(char c)
{
	return ascii_lower(c) || ascii_upper(c);
}
static inline bool ascii_alnum(char c)
{
	return ascii_alpha(c) || ascii_digit(c);
}
static inline char ascii_to_lower(char c)
{
	return ascii_upper(c) ? (char)(c - 'A' + 'a') : c;
}
static inline bool ascii_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
static inline bool ascii_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}
/* A letter, a digit, or one of `extra`. */
static inline bool ascii_word(char c, const char *extra)
{
	return ascii_alnum(c) || (c != '\0' && strchr(extra, c) != NULL);
}
/* Every byte is a letter, a digit or one of `extra`; true for empty text. */
bool text_all_word(struct text t, const char *extra);

/*
 * Reads one UTF-8 character at t.p: its length in bytes (1-4) and value, or 0 for anything that
 * is not UTF-8 (stray or missing continuation, overlong, surrogate, above U+10FFFF) or empty t.
 */
size_t utf8_next(struct text t, uint32_t *ret_char);
/* Length of the next character of t, not empty; what is no UTF-8 counts byte by byte. */
size_t utf8_step(struct text t);
bool utf8_valid(struct text t);
/*
 * A character that steers what shows it instead of being shown: C0, DEL, C1, line and paragraph
 * separators, and the marks that turn the direction of text around.
 */
bool utf8_control(uint32_t c);
/* The largest n <= max such that the first n bytes of t end at a character border. */
size_t utf8_cut(struct text t, size_t max);

/*
 * Appends t for a message: at most `max` bytes of it, everything outside 0x20-0x7E and `"` and
 * `\` as \xNN, "..." when cut, in double quotes.
 */
void text_quote(struct str *out, struct text t, size_t max);
/* The same into a static ring of 8 buffers, for direct use in error_set(); max 128 bytes of t. */
const char *quoted(struct text t);
const char *quoted_string(const char *s);
/*
 * Appends t with control characters (utf8_control), NUL and invalid UTF-8 as \xNN for each byte and
 * everything else as it is; at most `max` bytes of t. For words of others that a person is shown.
 */
void text_escape(struct str *out, struct text t, size_t max);

/* Levenshtein distance, ASCII case ignored; more than `limit` is reported as limit + 1. */
unsigned text_distance(struct text a, struct text b, unsigned limit);

/* Lower-case hexadecimal. out must hold 2 * n + 1 bytes. */
void hex_encode(const void *bytes, size_t n, char *out);
/* -1 unless t is exactly 2 * n lower-case hexadecimal digits. */
int hex_decode(struct text t, void *out, size_t n);
bool text_is_hex(struct text t, size_t digits);

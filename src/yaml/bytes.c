#include "yaml/bytes.h"

#define BYTE_ORDER_MARK 0xfeff

size_t bytes_mark_length(struct text t)
{
	return text_starts(t, "\xef\xbb\xbf") ? 3 : 0;
}

static bool line_separator(uint32_t c)
{
	return c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool bytes_refused_char(uint32_t c)
{
	if (c < 0x20)
		return c != '\t' && c != '\n' && c != '\r';
	if (c < 0x7f)
		return false;
	if (c < 0xa0)
		return c != 0x85;
	return c == BYTE_ORDER_MARK || c == 0xfffe || c == 0xffff || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

static enum problem_code judge(uint32_t c, struct text after)
{
	if (c == '\r')
		return after.len > 0 && after.p[0] == '\n' ? PROBLEM_NONE : PROBLEM_LINE_BREAK;
	if (line_separator(c))
		return PROBLEM_LINE_BREAK;
	return bytes_refused_char(c) ? PROBLEM_CONTROL_CHARACTER : PROBLEM_NONE;
}

enum problem_code bytes_check(struct text t, struct position *ret_at)
{
	*ret_at = (struct position){1, 1};
	if (text_starts(t, "\xff\xfe") || text_starts(t, "\xfe\xff"))
		return PROBLEM_ENCODING;
	t = text_after(t, bytes_mark_length(t));
	while (t.len > 0) {
		uint32_t c = 0;
		size_t n = utf8_next(t, &c);
		if (n == 0)
			return PROBLEM_ENCODING;
		t = text_after(t, n);
		enum problem_code code = c >= 0x20 && c < 0x7f ? PROBLEM_NONE : judge(c, t);
		if (code != PROBLEM_NONE)
			return code;
		if (c == '\n')
			*ret_at = (struct position){ret_at->line + 1, 1};
		else
			ret_at->column++;
	}
	return PROBLEM_NONE;
}

bool bytes_has_refused(struct text t)
{
	while (t.len > 0) {
		uint32_t c = 0;
		size_t n = utf8_next(t, &c);
		if (n == 0 || bytes_refused_char(c) || line_separator(c) || c == '\n' || c == '\r')
			return true;
		t = text_after(t, n);
	}
	return false;
}

const char *bytes_fault_text(enum problem_code code)
{
	switch (code) {
	case PROBLEM_ENCODING:
		return "the text is not UTF-8";
	case PROBLEM_LINE_BREAK:
		return "a line ends with something else than LF or CRLF";
	default:
		return "there is an invisible control character";
	}
}

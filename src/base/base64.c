#include "base/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct text bytes, struct secret *ret)
{
	size_t len = (bytes.len + 2) / 3 * 4;

	secret_make(len, ret);
	char *at = ret->p;
	for (size_t i = 0; i < bytes.len; i += 3) {
		unsigned bits = 0;
		for (size_t j = 0; j < 3; j++)
			bits = bits << 8 | (i + j < bytes.len ? (unsigned char)bytes.p[i + j] : 0U);
		for (size_t j = 0; j < 4; j++)
			*at++ = i + j > bytes.len ? '=' : digits[bits >> (18 - 6 * j) & 63];
	}
	*at = '\0';
}

/* Four digits, or fewer with their padding, into three bytes. False: one is no digit. */
static bool decode(const char *four, size_t n, char *ret)
{
	unsigned bits = 0;

	for (size_t i = 0; i < 4; i++) {
		const char *digit = i >= n ? digits : four[i] ? strchr(digits, four[i]) : NULL;
		if (!digit)
			return false;
		bits = bits << 6 | (unsigned)(digit - digits);
	}
	for (size_t i = 0; i < 3; i++)
		ret[i] = (char)(bits >> (16 - 8 * i) & 0xff);
	return true;
}

bool base64_decode(struct text t, struct secret *ret)
{
	size_t padding = text_ends(t, "==") ? 2 : text_ends(t, "=") ? 1 : 0;

	*ret = (struct secret){.p = NULL};
	if (t.len % 4 != 0)
		return false;
	secret_make(t.len / 4 * 3, ret);
	ret->len -= padding;
	for (size_t i = 0; i < t.len; i += 4)
		if (!decode(t.p + i, i + 4 < t.len ? 4 : 4 - padding, ret->p + i / 4 * 3))
			return false;
	ret->p[ret->len] = '\0';
	return true;
}

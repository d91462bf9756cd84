#include "base/base64.h"

#include "base/mem.h"

void base64_encode(struct text bytes, struct secret *ret)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t len = (bytes.len + 2) / 3 * 4;
	char *at = mem_alloc(len + 1);

	*ret = (struct secret){.p = at, .len = len};
	for (size_t i = 0; i < bytes.len; i += 3) {
		unsigned bits = 0;
		for (size_t j = 0; j < 3; j++)
			bits = bits << 8 | (i + j < bytes.len ? (unsigned char)bytes.p[i + j] : 0U);
		for (size_t j = 0; j < 4; j++)
			*at++ = i + j > bytes.len ? '=' : digits[bits >> (18 - 6 * j) & 63];
	}
	*at = '\0';
}

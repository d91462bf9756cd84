#include "image/netstring.h"

#include <inttypes.h>
#include <stdio.h>

void netstring_add(struct str *out, struct text t)
{
	str_addf(out, "%zu:", t.len);
	str_add(out, t.p, t.len);
	str_add_char(out, ',');
}

void netstring_add_string(struct str *out, const char *s)
{
	netstring_add(out, text_of(s));
}

void netstring_add_number(struct str *out, uint64_t n)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, n);
	netstring_add_string(out, digits);
}

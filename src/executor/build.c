#include "executor/build.h"

#include "base/cleanup.h"

enum { PARTS = 3 };

/* Any number of digits: numbers are compared as text, so nothing wraps. */
static bool decimal(struct text t)
{
	if (t.len == 0 || (t.len > 1 && t.p[0] == '0'))
		return false;
	for (size_t i = 0; i < t.len; i++)
		if (!ascii_digit(t.p[i]))
			return false;
	return true;
}

static bool parse(struct text t, struct text parts[PARTS])
{
	struct text part;
	size_t n = 0;

	if (!text_starts(t, "v"))
		return false;
	t = text_after(t, 1);
	while (text_split(&t, '.', &part)) {
		if (n == PARTS || !decimal(part))
			return false;
		parts[n++] = part;
	}
	return n == PARTS;
}

bool build_valid(struct text t)
{
	struct text parts[PARTS];

	return parse(t, parts);
}

static int compare_decimal(struct text a, struct text b)
{
	if (a.len != b.len)
		return a.len < b.len ? -1 : 1;
	return text_compare(a, b);
}

int build_compare(struct text a, struct text b)
{
	struct text pa[PARTS], pb[PARTS];
	bool va = parse(a, pa), vb = parse(b, pb);
	int order = 0;

	if (!va || !vb)
		return (int)va - (int)vb;
	for (size_t i = 0; i < PARTS && order == 0; i++)
		order = compare_decimal(pa[i], pb[i]);
	return order;
}

#include "image/repository.h"

/* Length of the separator at t.p: one of `.`, `_`, `__`, or dashes; 0: none of them. */
static size_t separator_length(struct text t)
{
	size_t n = 0;

	while (n < t.len && t.p[n] == t.p[0])
		n++;
	if (t.p[0] == '-')
		return n;
	return (t.p[0] == '.' && n == 1) || (t.p[0] == '_' && n <= 2) ? n : 0;
}

static size_t word_length(struct text t)
{
	size_t n = 0;

	while (n < t.len && (ascii_lower(t.p[n]) || ascii_digit(t.p[n])))
		n++;
	return n;
}

static bool component_valid(struct text t)
{
	size_t n = word_length(t);

	while (n > 0 && n < t.len) {
		t = text_after(t, n);
		size_t separator = separator_length(t);
		t = text_after(t, separator);
		n = separator ? word_length(t) : 0;
	}
	return n > 0;
}

static bool has_upper(struct text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (ascii_upper(t.p[i]))
			return true;
	return false;
}

enum repository_fault repository_judge(struct text path, const char **ret_where)
{
	struct text component;

	while (text_split(&path, '/', &component)) {
		*ret_where = component.p;
		if (has_upper(component))
			return REPOSITORY_UPPERCASE;
		if (!component_valid(component))
			return REPOSITORY_BAD;
	}
	return REPOSITORY_OK;
}

#include "vault/variable-name.h"

#include "base/mem.h"
#include "base/str.h"

static char spelled(char c)
{
	if (ascii_lower(c))
		return (char)(c - 'a' + 'A');
	return ascii_alnum(c) ? c : '_';
}

/* Length of the next character; what is no UTF-8 counts byte by byte. */
static size_t next_length(struct text t)
{
	uint32_t ignored;
	size_t n = utf8_next(t, &ignored);

	return n > 0 ? n : 1;
}

char *variable_name_of(const char *prefix, struct text name)
{
	AUTO(str) out = STR_INIT(strlen(prefix) + name.len);

	str_add_text(&out, prefix);
	while (name.len > 0) {
		str_add_char(&out, spelled(name.p[0]));
		name = text_after(name, next_length(name));
	}
	return str_take(&out);
}

bool variable_name_ambiguous(const struct strv *names, const char *name)
{
	auto_free char *own = variable_name_of("", text_of(name));
	unsigned same = 0;

	strv_foreach (other, names) {
		auto_free char *theirs = variable_name_of("", text_of(*other));
		same += strcmp(own, theirs) == 0;
	}
	return same > 1;
}

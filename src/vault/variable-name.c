#include "vault/variable-name.h"

#include "base/mem.h"
#include "base/str.h"

static char spelled(char c)
{
	if (ascii_lower(c))
		return (char)(c - 'a' + 'A');
	return ascii_alnum(c) ? c : '_';
}

char *variable_name_of(const char *prefix, struct text name)
{
	AUTO(str) out = STR_INIT(strlen(prefix) + name.len);

	str_add_text(&out, prefix);
	while (name.len > 0) {
		str_add_char(&out, spelled(name.p[0]));
		name = text_after(name, utf8_step(name));
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

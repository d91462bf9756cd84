#include "config/edit-value.h"

static bool plain(struct text t)
{
	static const char *const nulls[] = {"~", "null", "Null", "NULL"};

	for (size_t i = 0; i < ARRAY_SIZE(nulls); i++)
		if (text_is(t, nulls[i]))
			return false;
	if (t.len == 0 || !text_all_word(t, "_./+-@"))
		return false;
	bool number = t.len > 1 && t.p[0] == '-' && ascii_digit(t.p[1]);
	return ascii_alnum(t.p[0]) || t.p[0] == '/' || t.p[0] == '_' || number;
}

void edit_value_write(struct str *out, struct text t)
{
	if (plain(t)) {
		str_add(out, t.p, t.len);
		return;
	}
	str_add_char(out, '"');
	for (size_t i = 0; i < t.len; i++) {
		if (t.p[i] == '"' || t.p[i] == '\\')
			str_addf(out, "\\%c", t.p[i]);
		else if (ascii_control(t.p[i]))
			str_addf(out, "\\x%02X", (unsigned char)t.p[i]);
		else
			str_add_char(out, t.p[i]);
	}
	str_add_char(out, '"');
}

void edit_value_write_list(struct str *out, char *const *values, size_t n)
{
	str_add_char(out, '[');
	for (size_t i = 0; i < n; i++) {
		str_add_text(out, i ? ", " : "");
		edit_value_write(out, text_of(values[i]));
	}
	str_add_char(out, ']');
}

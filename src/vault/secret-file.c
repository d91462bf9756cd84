#include "vault/secret-file.h"

enum { NAME_BYTES_MAX = 255 };

int secret_file_name_check(struct text t, struct error *err)
{
	bool good = t.len >= 1 && t.len <= NAME_BYTES_MAX && !text_is(t, ".") &&
		    !text_is(t, "..") && !text_has_byte(t, '/') && !text_has_byte(t, '\\') &&
		    !text_has_control(t);

	if (!good)
		return error_set(err, ERROR_SECRET_NAME_INVALID,
			"secret file %s is not one plain name", quoted(t));
	return 0;
}

bool secret_file_mode_valid(mode_t mode)
{
	return mode == 0400 || mode == 0500 || mode == 0600 || mode == 0700;
}

int secret_file_mode_parse(struct text t, mode_t *ret, struct error *err)
{
	static const struct {
		const char *text;
		mode_t mode;
	} modes[] = {{"400", 0400}, {"500", 0500}, {"600", 0600}, {"700", 0700}};
	struct text digits = t.len == 4 && t.p[0] == '0' ? text_after(t, 1) : t;

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (text_is(digits, modes[i].text)) {
			*ret = modes[i].mode;
			return 0;
		}
	error_set(err, ERROR_SECRET_MODE_INVALID, "mode %s of a secret file", quoted(t));
	return error_set_remedy(err, "0400, 0500, 0600 or 0700");
}

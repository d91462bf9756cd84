#include "vault/secret-name.h"

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

int secret_name_check(struct text name, struct error *err)
{
	bool good = name.len >= 1 && name.len <= 128 && name.p[0] != '-' && !text_is(name, ".") &&
		    !text_is(name, "..");

	for (size_t i = 0; good && i < name.len; i++)
		good = is_name_byte(name.p[i]);
	if (!good)
		error_set(
			err, ERROR_SECRET_NAME_INVALID, "%s is no name of a secret", quoted(name));
	return good ? 0
		    : error_set_remedy(err, "1 to 128 letters, digits, `.`, `_` and `-`, not "
					    "beginning with `-`, and "
					    "neither `.` nor `..`");
}

/*
 * A login that is found belongs to a key of the file that names a prefix of the image, and is
 * clean; nothing of a password is in an error's words.
 */
#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "image/auth.h"
#include "json-mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const images[] = {"ghcr.io/acme/x:1", "docker.io/alpine:3",
	"localhost:5000/a/b/c/d", "quay.io/x", "[::1]/v1"};

static void check_login(const json_t *file, const struct auth_login *l)
{
	const json_t *auths = json_object_get(file, "auths");

	assert(l->key && json_object_get(auths, l->key));
	assert(l->user && *l->user && !strchr(l->user, ':'));
	assert(!l->password.p != !l->identity_token.p);
	assert(!l->password.p || *l->password.p);
	for (const char *p = l->user; *p; p++)
		assert(!ascii_control(*p));
	for (const char *p = l->password.p; p && *p; p++)
		assert(!ascii_control(*p));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *file = json_read((struct text){(const char *)data, size}, AUTH_FILE_MAX_BYTES,
		"file", ERROR_AUTH_FILE_BROKEN, &err);

	for (size_t i = 0; file && i < ARRAY_SIZE(images); i++) {
		AUTO(auth_login) login = {.key = NULL};
		struct image_reference r;
		int parsed = image_reference_parse(text_of(images[i]), &r, &err);
		assert(parsed == 0);
		int found = auth_find(file, "auth.json", &r, &login, &err);
		if (found == 0)
			check_login(file, &login);
		else
			assert(!login.key && !login.identity_token.p);
		assert(found >= 0 || error_is(&err, ERROR_AUTH_FILE_BROKEN) ||
			error_is(&err, ERROR_AUTH_ENTRY_BROKEN));
		(void)auth_helper(file, r.registry);
	}
	return 0;
}

/*
 * Registry logins in the files of docker and podman (image-trust.md §7). Pure: whoever reads the
 * files brings their content. Credential helpers are never run; that a file names one is only for
 * messages.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/secret.h"
#include "image/reference.h"

enum { AUTH_FILE_MAX_BYTES = 1 << 20 };

struct auth_login {
	char *key; /* as the file spells it */
	char *user;
	/* At most one of them is there. */
	struct secret password;
	struct secret identity_token; /* used instead of the password */
};
void auth_login_done(struct auth_login *l);
/*
 * Base64 of USER:PASSWORD (no password: USER:) behind a prefix, as `docker login` writes it and
 * Basic sends it. Caller releases.
 */
void auth_login_encode(const struct auth_login *l, const char *prefix, struct secret *ret);

/* The positive outcome of auth_find(). */
enum { AUTH_NO_LOGIN = 1 };

/*
 * The login for an image of a registry (r->registry is not empty) in one file. 0: *ret is filled.
 * AUTH_NO_LOGIN: the next file is to be asked. -1: auth_file_broken, auth_entry_broken; `file` is
 * for the message. Only the entry that would be used is examined.
 */
must_check int auth_find(const json_t *content, const char *file, const struct image_reference *r,
	struct auth_login *ret, struct error *err);

/* A helper that the file names for this registry, or NULL; borrowed from content. */
const char *auth_helper(const json_t *content, const char *registry);

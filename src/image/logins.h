/* Registry logins of the hub and the command line: which file holds one (image-trust.md §7). */
#pragma once

#include "image/auth.h"

struct login_found {
	struct auth_login login; /* key NULL: none was found */
	char *file;              /* path of the file that holds it; NULL without one */
	/* The first helper that a file named for this registry, never run; NULL: none did. */
	char *helper;
};
void login_found_done(struct login_found *f);

/*
 * Looks through the files of docker and podman in their order; the first that holds a login for the
 * image (which names a registry) wins. 0: found. AUTH_NO_LOGIN: no file holds one; ret->helper may
 * be set. -1: auth_file_broken, auth_entry_broken. *ret is written unless -1, and is to be released
 * then.
 */
must_check int logins_find(
	const struct image_reference *r, struct login_found *ret, struct error *err);

/*
 * The one registry login that cosign gets (image-trust.md §8.2): a private directory on tmpfs whose
 * config.json holds it, so that nothing else of the operator's login files, no credential helper
 * above all, has a part in a verification.
 */
#pragma once

#include "image/logins.h"

struct cosign_logins {
	char *path; /* for DOCKER_CONFIG */
	int parent; /* the directory that holds it */
	int dir;    /* locked: as long as it is, somebody uses the directory */
};
#define COSIGN_LOGINS_INIT ((struct cosign_logins){.parent = -1, .dir = -1})
/* Removes the directory. */
void cosign_logins_done(struct cosign_logins *l);

/*
 * Makes the directory (0700) for verifications of this image; where no login is found, it holds an
 * empty file. Errors: those of logins_find(), io.
 */
must_check int cosign_logins_make(
	const struct image_reference *r, struct cosign_logins *ret, struct error *err);
/* Removes what killed processes of this user left: every such directory that nobody has locked. */
void cosign_logins_sweep(void);

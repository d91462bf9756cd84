/* Looks for the repositories below a directory of this host (disk-and-secrets.md §16.3). */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "base/strv.h"
#include "base/text.h"

struct local_repo {
	char *name;
	char *source; /* resolved */
};
struct local_repos {
	struct local_repo *v;
	size_t n;
};
void local_repos_done(struct local_repos *r);

/*
 * The repositories that the patterns give, in byte order of their names. The payload is checked
 * once more. -1: secret_payload_invalid (`path`: no directory there, or `/`), local_repo_none,
 * local_repo_too_many, io.
 */
must_check int local_repo_list(struct text payload, const struct strv *patterns,
	struct local_repos *ret, struct error *err);

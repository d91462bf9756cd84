/*
 * Which repositories below a directory a grant gives (disk-and-secrets.md §16.3). Pure; looking at
 * the directory: local-repo-list.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strv.h"
#include "base/text.h"

enum { LOCAL_REPO_MAX = 32, LOCAL_REPO_NAME_MAX = 128 };
#define LOCAL_REPO_ROOT "/repos" /* inside; CLOOP_LOCAL_REPO_ROOT */
#define LOCAL_REPO_VARIABLE "CLOOP_LOCAL_REPO_"

/* A payload: an absolute directory, not `/`. -1: secret_payload_invalid, reason `path`. */
must_check int local_repo_payload_check(struct text payload, struct error *err);

/* A direct child of the root. */
struct local_repo_candidate {
	struct text name;
	struct text link; /* what it leads to, resolved; p = NULL: it is no link */
	bool is_dir, is_git;
};
/* Could it be given at all, whatever the patterns? */
bool local_repo_possible(struct text root, const struct local_repo_candidate *c);
bool local_repo_matches(const struct strv *patterns, struct text name);
struct local_repo_root {
	struct text path;            /* resolved */
	const struct strv *patterns; /* the grant's `repos` */
};
/*
 * Names of those that are given, in byte order, into *ret (empty before). -1: local_repo_none,
 * local_repo_too_many; *ret is not written.
 */
must_check int local_repo_select(const struct local_repo_root *root,
	const struct local_repo_candidate *c, size_t n, struct strv *ret, struct error *err);
/* The value of CLOOP_LOCAL_REPOS; caller frees. */
must_check char *local_repo_names(const struct strv *repos);

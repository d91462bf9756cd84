/* What a run would get from the grants (disk-and-secrets.md §19, `secret lease`). */
#pragma once

#include <jansson.h>

#include "base/error.h"

struct lease_preview {
	const char *home;     /* cloop's */
	const char *project;  /* a directory */
	const char *executor; /* its ID; NULL = the one that the project is bound to, else: */
	const char *otherwise;
};
/*
 * {"project","executor","kinds","granted","denied","filtered","env","files","devices","interfaces",
 * "repos","expires_at","hard_end"}: names, never a value; nothing is staged and nothing recorded.
 * The project's file is applied as for a run. -1: not_a_project, sandbox_invalid_spec, those of
 * lease_make().
 */
must_check int lease_preview(const struct lease_preview *p, json_t **ret, struct error *err);

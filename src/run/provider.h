/* What the home's store knows of a project: provider and binding (config.md §4). */
#pragma once

#include "base/error.h"

struct store;

struct provider {
	char *project; /* resolved path; NULL when the directory cannot be resolved */
	bool known;
	const char *harness; /* program of its agent (claude, copilot); NULL: none */
	char *executor;      /* that it is bound to; NULL: none */
};
#define PROVIDER_INIT ((struct provider){NULL, false, NULL, NULL})
void provider_done(struct provider *p);

/*
 * Looks the project of a directory up. A home without a store (NULL) knows none. Errors are those
 * of the store: who cannot tell what an image must carry does not run it.
 */
must_check int provider_load(
	struct store *s, const char *dir, struct provider *ret, struct error *err);

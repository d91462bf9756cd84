/*
 * What a podman build leaves whose starter was killed (image-trust.md §11.4): the client, for as
 * long as its command says nothing, and, since it dies of SIGPIPE at its next word, its working
 * container, mounted. That is known by the key's label, which buildah keeps beside it.
 */
#pragma once

#include "base/strv.h"
#include "executor/container/driver/client.h"

struct build_orphans {
	const struct runtime *runtime;
	const struct strv *env; /* client_environment() */
	const char *home;
};
enum { BUILD_ORPHANS_MAX = 4096 };

/* Appends "KEY ID" for each working container of a key that is in the store now. Best effort. */
void build_orphans_find(const struct build_orphans *o, struct strv *ret);
/*
 * Ends the client of that key that this home has, and removes the containers of that key that are
 * in found; appends their IDs to removed (may be NULL). Best effort. The caller
 * holds the locks of the key: nobody builds it.
 */
void build_orphans_remove(const struct build_orphans *o, const char *key, const struct strv *found,
	struct strv *removed);
/* Both of it. */
void build_orphans_end(const struct build_orphans *o, const char *key);

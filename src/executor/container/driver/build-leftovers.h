/* What a build that failed or was stopped can leave in the engine's store (image-trust.md §11.4).
 */
#pragma once

#include <stdbool.h>

#include "executor/container/driver/image-answers.h"
#include "image/setup.h"

struct build_leftovers {
	struct image_answers *answers;
	const struct setup_facts *facts;
	const char *key;
	bool forced;     /* the client had to be killed */
	int64_t began_s; /* seconds since 1970: when it was started */
};
/*
 * docker: containers of the key that belong to no run are waited for, then removed, and layers of
 * the commands that went well. podman: a client that had to be killed leaves its working container,
 * which is known by its base and its age; of several that could be it, none is touched. Best
 * effort; the key's lock is held.
 */
void build_leftovers_remove(const struct build_leftovers *l);

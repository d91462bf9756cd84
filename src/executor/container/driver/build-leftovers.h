/* What a build that failed or was stopped can leave in the engine's store (image-trust.md §11.4).
 */
#pragma once

#include <stdbool.h>

#include "base/strv.h"
#include "executor/container/driver/image-answers.h"
#include "image/setup.h"

struct build_leftovers {
	struct image_answers *answers;
	const struct setup_facts *facts;
	const char *key;
	bool forced; /* the client had to be killed */
	/* Of before the build; not known: nothing is taken for the build's. */
	int64_t began_ns;
	bool known;
	struct strv before; /* podman: containers of the base */
};
/* Right before the build, with the first three fields set. podman: one call of the engine. */
void build_leftovers_begin(struct build_leftovers *l);
void build_leftovers_done(struct build_leftovers *l);
/*
 * docker: containers that run on a layer of this build are waited for, then removed, and the layers
 * of the commands that went well; other containers and images with the key's label are people's.
 * podman: a client that had to be killed leaves its working container, which is known by its base,
 * its age, and not having been there before; of several that could be it, none is touched. Best
 * effort; the key's lock is held.
 */
void build_leftovers_remove(const struct build_leftovers *l);

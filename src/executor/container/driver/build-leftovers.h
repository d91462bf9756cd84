/* What a build that failed or was stopped can leave in the engine's store (image-trust.md §11.4).
 */
#pragma once

#include <stdbool.h>

#include "executor/container/driver/image-answers.h"
#include "image/setup.h"

/*
 * docker: containers of the key that belong to no run are waited for, then removed, and layers of
 * the commands that went well. podman: only a client that had to be killed (`forced`) leaves its
 * working container. Best effort; the key's lock is held.
 */
void build_leftovers_remove(struct image_answers *answers, const struct setup_facts *facts,
	const char *key, bool forced);

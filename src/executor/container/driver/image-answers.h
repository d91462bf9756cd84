/*
 * Answers of `ENGINE image inspect`, kept below cloop's home while the engine's store is as it was:
 * a start that finds everything unchanged asks the engine nothing (image-trust.md §5.1).
 */
#pragma once

#include <jansson.h>

#include "base/strv.h"
#include "executor/container/driver/client.h"
#include "image/inspect.h"

/* Of one start, or of another command. Borrows everything but the last two. */
struct image_answers {
	const struct runtime *runtime;
	const struct strv *env; /* client_environment() */
	const char *home;       /* cloop's; NULL: nothing is kept */
	int cancel_fd;          /* as in client_run() */
	bool looked;            /* for where the store is: asked once */
	struct strv files;      /* that change whenever an answer can; none = not known */
};
void image_answers_done(struct image_answers *a);

enum image_store image_answers_store(const struct runtime *runtime);
/*
 * What the store says of a name; never pulls. Of the answer only Id, names, digests, platform,
 * RootFS.Layers, and of Config labels, volumes and the user. Caller owns it. NULL: image_missing
 * (the remedy holds the pull command), engine_failed and the engine's other errors.
 */
must_check json_t *image_answers_get(
	struct image_answers *a, const struct image_reference *asked, struct error *err);
/* The whole answer for an ID, always from the engine (history, ONBUILD). */
must_check json_t *image_answers_ask_id(
	const struct image_answers *a, const char *id, struct error *err);

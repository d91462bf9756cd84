#include "lib/image.h"

#include <stdlib.h>

#include "base/mem.h"
#include "executor/container/detect.h"
#include "executor/container/driver/image-store.h"
#include "executor/container/environment.h"
#include "lib/error.h"
#include "lib/runtime.h"
#include "lib/strings.h"
#include "sys/env.h"

/* What a caller gets, and what its members point into. */
struct identity {
	struct cloop_image_identity shown; /* first: its address is the object's */
	char *ref, *repo_digest, *id;
};

static struct cloop_image_identity *give(const char *ref, const struct image_identity *found)
{
	struct identity *i = mem_alloc(sizeof(*i));

	i->ref = mem_strdup(ref);
	i->repo_digest = mem_strdup(found->reproducible ? found->run : "");
	i->id = mem_strdup(found->id);
	i->shown = (struct cloop_image_identity){
		.ref = i->ref, .repo_digest = i->repo_digest, .id = i->id};
	return &i->shown;
}

int lib_image_look_up(const struct runtime *runtime, const char *ref,
	struct cloop_image_identity **ret, struct error *err)
{
	AUTO(strv) env = STRV_INIT(64);
	AUTO(stored_image) image = STORED_IMAGE_INIT;
	AUTO(image_answers)
	answers = {.runtime = runtime, .env = &env, .cancel_fd = -1};

	environment_client(runtime->engine, environ, runtime->endpoint, "/nonexistent", &env);
	int r = image_store_look_up(&answers, ref, &image, err);
	if (r >= 0)
		*ret = give(ref, &image.identity);
	return r;
}

int cloop_image_inspect(const struct cloop_runtime *runtime, const char *ref,
	struct cloop_image_identity **identity, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	AUTO(runtime) engine = RUNTIME_INIT;

	if (LIB_MISSING(e, runtime, identity))
		return -1;
	if (lib_runtime_read(
		    runtime->name, lib_text(runtime->path), runtime->rootless, &engine, e) < 0)
		return -1;
	if (engine.path[0] != '/')
		return error_set(e, ERROR_RUNTIME_MISSING,
			"the path %s of the engine %s is not absolute", quoted_string(engine.path),
			engine_text(engine.engine));
	if (runtime_resolve_endpoint(&engine, e) < 0)
		return -1;
	return lib_image_look_up(&engine, lib_text(ref), identity, e) < 0 ? -1 : 0;
}

void cloop_image_identity_free(struct cloop_image_identity *identity)
{
	struct identity *i = (struct identity *)identity;

	if (!i)
		return;
	free(i->ref);
	free(i->repo_digest);
	free(i->id);
	free(i);
}

const char *cloop_image_identity_pinned(const struct cloop_image_identity *identity)
{
	if (!identity)
		return "";
	return identity->repo_digest[0] ? identity->repo_digest : identity->ref;
}

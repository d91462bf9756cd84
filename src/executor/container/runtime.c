#include "executor/container/runtime.h"

#include <stdlib.h>

#include "base/enum-text.h"

static const char *const engine_names[] = {[ENGINE_PODMAN] = "podman", [ENGINE_DOCKER] = "docker"};
ENUM_TEXT(engine, engine_names, ENGINE_COUNT)

const char *runtime_text(const struct runtime *r)
{
	if (!r)
		return "<none>";
	return r->engine == ENGINE_PODMAN && r->rootless ? "podman (rootless)"
							 : engine_text(r->engine);
}

void runtime_done(struct runtime *r)
{
	free(r->path);
	free(r->endpoint);
	*r = RUNTIME_INIT;
}

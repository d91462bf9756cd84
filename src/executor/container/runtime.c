#include "executor/container/runtime.h"

#include <stdlib.h>
#include <string.h>

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

const char *runtime_socket(const struct runtime *r)
{
	static const char unix_scheme[] = "unix://";

	return text_starts(text_of(r->endpoint), unix_scheme) ? r->endpoint + strlen(unix_scheme)
							      : NULL;
}

void runtime_done(struct runtime *r)
{
	free(r->path);
	free(r->endpoint);
	*r = RUNTIME_INIT;
}

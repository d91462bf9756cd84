#include "run/provider.h"

#include <assert.h>

#include "base/mem.h"
#include "store/project.h"
#include "sys/file.h"

static const char *const programs[] = {
	[STORE_PROVIDER_NONE] = NULL,
	[STORE_PROVIDER_CLAUDECODE] = "claude",
	[STORE_PROVIDER_COPILOT] = "copilot",
};
static_assert(ARRAY_SIZE(programs) == STORE_PROVIDER_COUNT, "a program for every provider");

void provider_done(struct provider *p)
{
	free(p->project);
	free(p->executor);
}

static void keep(void *data, const struct store_project *p)
{
	struct provider *ret = data;

	ret->known = true;
	ret->harness = programs[p->provider];
	ret->executor = p->executor.p ? mem_strndup(p->executor.p, p->executor.len) : NULL;
}

int provider_load(struct store *s, const char *dir, struct provider *ret, struct error *err)
{
	ret->project = file_resolve(dir);
	if (!ret->project || !s)
		return 0;
	return store_project_show(s, ret->project, keep, ret, err) < 0 ? -1 : 0;
}

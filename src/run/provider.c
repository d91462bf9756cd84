#include "run/provider.h"

#include <assert.h>

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
}

int provider_load(struct store *s, const char *dir, struct provider *ret, struct error *err)
{
	enum store_provider provider;

	ret->project = file_resolve(dir);
	if (!ret->project || !s)
		return 0;
	int r = store_project_provider(s, ret->project, &provider, err);
	if (r < 0)
		return -1;
	ret->known = r == 0;
	ret->harness = programs[provider];
	return 0;
}

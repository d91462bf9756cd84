#include "run/forget.h"

#include "base/cleanup.h"
#include "run/binding.h"
#include "run/ceilings.h"
#include "store/project.h"
#include "store/query.h"

static int unbind(struct store *s, const char *project, const char *actor, struct error *err)
{
	auto_free char *previous = NULL;
	struct binding none = {.project = project, .actor = actor};

	return binding_set_within(s, &none, &previous, err);
}

static int clear_ceiling(struct store *s, const char *project, const char *actor, struct error *err)
{
	struct limits now;
	struct ceilings_change all = {
		.source = CEILING_PROJECT, .subject = project, .actor = actor};

	for (enum resource r = 0; r < RESOURCE_COUNT; r++)
		all.given[r] = true;
	return ceilings_change_within(s, &all, &now, err) < 0 ? -1 : 0;
}

int forget_project(struct store *s, const char *project, const char *actor, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;

	if (query_begin(s, &t, err) < 0 || unbind(s, project, actor, err) < 0 ||
		clear_ceiling(s, project, actor, err) < 0)
		return -1;
	int r = store_project_forget(s, project, err);
	if (r < 0 || query_commit(&t, err) < 0)
		return -1;
	return r;
}

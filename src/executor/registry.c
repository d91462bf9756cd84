#include "executor/registry.h"

#include "base/mem.h"

void registry_done(struct registry *r)
{
	for (size_t i = 0; i < r->n; i++)
		executor_free(r->executors[i]);
	*r = (struct registry){0};
}

static struct executor *lookup(const struct registry *r, const char *id)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->executors[i]->id, id) == 0)
			return r->executors[i];
	return NULL;
}

int registry_add(struct registry *r, struct executor *e, struct error *err)
{
	AUTO_PTR(executor) taken = e;

	if (lookup(r, e->id))
		return error_set(
			err, ERROR_USAGE, "there are two executors %s", quoted_string(e->id));
	if (r->n == REGISTRY_EXECUTORS_MAX)
		return error_set(
			err, ERROR_USAGE, "more than %d executors", REGISTRY_EXECUTORS_MAX);
	r->executors[r->n++] = TAKE_PTR(taken);
	return 0;
}

struct executor *registry_find(const struct registry *r, const char *id, struct error *err)
{
	struct executor *e = lookup(r, id);

	if (e)
		return e;
	AUTO(str) ids = STR_INIT(ERROR_TEXT_MAX / 2);
	for (size_t i = 0; i < r->n; i++)
		str_addf(&ids, "%s%s", i ? ", " : "", r->executors[i]->id);
	error_set(err, ERROR_EXECUTOR_UNKNOWN, "no executor %s; there are: %s", quoted_string(id),
		r->n ? str_text(&ids) : "none");
	return NULL;
}

struct candidate *registry_candidates(const struct registry *r)
{
	struct candidate *list = mem_alloc(r->n * sizeof(*list));

	for (size_t i = 0; i < r->n; i++)
		executor_capabilities(r->executors[i], &list[i]);
	return list;
}

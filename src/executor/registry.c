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

/* Host processes are configured by one switch; the driver itself comes with a later version. */
static int make_localprocess(
	const struct registry_settings *settings, struct registry *r, struct error *err)
{
	auto_error struct error reason = ERROR_INIT;

	if (!settings->allow_host_process)
		return 0;
	error_set(&reason, ERROR_NOT_AVAILABLE_YET, "this version runs no host processes");
	error_set_remedy(&reason, "use a container executor");
	return registry_add(
		r, executor_new_unavailable("localprocess", "localprocess", &reason), err);
}

/* Adds the driver's executors to r, or nothing when it is switched off. */
typedef int make_fn(
	const struct registry_settings *settings, struct registry *r, struct error *err);

static make_fn *const drivers[] = {
	make_localprocess,
};

int registry_open(const struct registry_settings *settings, struct registry *ret, struct error *err)
{
	AUTO(registry) r = {0};

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (drivers[i](settings, &r, err) < 0)
			return -1;
	*ret = r;
	r = (struct registry){0};
	return 0;
}

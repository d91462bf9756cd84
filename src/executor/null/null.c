#include "executor/null/null.h"

#include "base/mem.h"

static void capabilities(const struct executor *e, struct candidate *ret)
{
	*ret = *(const struct candidate *)e->driver;
	ret->storage = NULL;
}

static int health_check(const struct executor *e, struct error *err)
{
	const struct candidate *c = e->driver;

	if (candidate_ready(c) || candidate_degraded(c))
		return 0;
	return error_set(err, ERROR_EXECUTOR_UNAVAILABLE, "it reports %s", quoted(c->health));
}

static void release(void *driver)
{
	candidate_done(driver);
	free(driver);
}

static const struct executor_ops ops = {
	.kind = "null",
	.capabilities = capabilities,
	.health_check = health_check,
	.free = release,
};

struct executor *null_executor_new(struct candidate *given)
{
	struct candidate *c = mem_alloc(sizeof(*c));

	*c = *given;
	*given = (struct candidate){0};
	auto_free char *id = mem_strndup(c->id.p ? c->id.p : "", c->id.len);
	return executor_new(&ops, id, c);
}

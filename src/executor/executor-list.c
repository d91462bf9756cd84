#include "executor/executor-list.h"

#include "base/mem.h"

void executor_list_done(struct executor_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		executor_free(l->items[i]);
	*l = (struct executor_list){0};
}

static struct executor *lookup(const struct executor_list *l, const char *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->items[i]->id, id) == 0)
			return l->items[i];
	return NULL;
}

int executor_list_add(struct executor_list *l, struct executor *e, struct error *err)
{
	AUTO_PTR(executor) taken = e;

	if (lookup(l, e->id))
		return error_set(
			err, ERROR_USAGE, "there are two executors %s", quoted_string(e->id));
	if (l->n == EXECUTOR_LIST_MAX)
		return error_set(err, ERROR_USAGE, "more than %d executors", EXECUTOR_LIST_MAX);
	l->items[l->n++] = TAKE_PTR(taken);
	return 0;
}

struct executor *executor_list_find(
	const struct executor_list *l, const char *id, struct error *err)
{
	struct executor *e = lookup(l, id);

	if (e)
		return e;
	AUTO(str) ids = STR_INIT(ERROR_TEXT_MAX / 2);
	for (size_t i = 0; i < l->n; i++)
		str_addf(&ids, "%s%s", i ? ", " : "", l->items[i]->id);
	error_set(err, ERROR_EXECUTOR_UNKNOWN, "no executor %s; there are: %s", quoted_string(id),
		l->n ? str_text(&ids) : "none");
	return NULL;
}

struct candidate *executor_list_candidates(const struct executor_list *l)
{
	struct candidate *list = mem_alloc(l->n * sizeof(*list));

	for (size_t i = 0; i < l->n; i++)
		executor_capabilities(l->items[i], &list[i]);
	return list;
}

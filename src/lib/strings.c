#include "lib/strings.h"

#include "base/mem.h"

char **lib_strings_give(const struct strv *list)
{
	char **ret = mem_grow(NULL, list->n + 1, sizeof(*ret));

	for (size_t i = 0; i < list->n; i++)
		ret[i] = mem_strdup(list->v[i]);
	ret[list->n] = NULL;
	return ret;
}

int lib_strings_take(const char *const *list, struct strv *ret)
{
	for (; list && *list; list++)
		if (strv_add(ret, *list) < 0)
			return -1;
	return 0;
}

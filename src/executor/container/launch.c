#include "executor/container/launch.h"

#include <string.h>

static void wipe_list(struct strv *list)
{
	for (size_t i = 0; i < list->n; i++)
		explicit_bzero(list->v[i], strlen(list->v[i]));
	strv_done(list);
}

void launch_done(struct launch *l)
{
	wipe_list(&l->run_env);
	wipe_list(&l->expected);
	if (l->env_file)
		explicit_bzero(l->env_file, strlen(l->env_file));
	free(l->env_file);
	*l = LAUNCH_INIT;
}

json_t *launch_to_json(const struct launch *l)
{
	return json_pack("{s:o, s:o, s:o}", "run_env", json_exact_list(&l->run_env), "env_file",
		json_exact(l->env_file), "expected", json_exact_list(&l->expected));
}

int launch_from_json(json_t *object, struct launch *ret, struct error *err)
{
	if (json_exact_list_bytes(json_object_get(object, "run_env"), &ret->run_env) < 0 ||
		json_exact_list_bytes(json_object_get(object, "expected"), &ret->expected) < 0)
		return error_set(err, ERROR_IO, "the launch block is not of its format");
	ret->env_file = json_exact_bytes(json_object_get(object, "env_file"));
	return 0;
}

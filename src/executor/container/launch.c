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
	secret_done(&l->egress_token);
	*l = LAUNCH_INIT;
}

json_t *launch_to_json(const struct launch *l)
{
	json_t *sizes = json_array();

	for (size_t i = 0; i < l->n_files; i++)
		json_array_append_new(sizes, json_integer((json_int_t)l->file_sizes[i]));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}", "run_env", json_exact_list(&l->run_env),
		"env_file", json_exact(l->env_file), "expected", json_exact_list(&l->expected),
		"file_sizes", sizes, "egress_token", json_exact(l->egress_token.p),
		"egress_deadline_ms", (json_int_t)l->egress_deadline_ms);
}

static int sizes_from_json(const json_t *sizes, struct launch *ret)
{
	size_t i;
	json_t *size;

	if (json_array_size(sizes) > LAUNCH_FILES_MAX)
		return -1;
	json_array_foreach(sizes, i, size)
	{
		if (!json_is_integer(size) || json_integer_value(size) < 0)
			return -1;
		ret->file_sizes[ret->n_files++] = (size_t)json_integer_value(size);
	}
	return 0;
}

int launch_from_json(json_t *object, struct launch *ret, struct error *err)
{
	if (json_exact_list_bytes(json_object_get(object, "run_env"), &ret->run_env) < 0 ||
		json_exact_list_bytes(json_object_get(object, "expected"), &ret->expected) < 0 ||
		sizes_from_json(json_object_get(object, "file_sizes"), ret) < 0)
		return error_set(err, ERROR_IO, "the launch block is not of its format");
	ret->env_file = json_exact_bytes(json_object_get(object, "env_file"));
	struct text token = json_get_text(object, "egress_token");
	if (token.p)
		SECRET_CONCAT(&ret->egress_token, token);
	ret->egress_deadline_ms = json_get_int(object, "egress_deadline_ms", 0);
	return 0;
}

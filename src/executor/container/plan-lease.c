#include "executor/container/plan-lease.h"

#include "base/mem.h"

void plan_lease_done(struct plan_lease *l)
{
	for (size_t i = 0; i < l->n_files; i++)
		free(l->files[i].name);
	for (size_t i = 0; i < l->n_bindings; i++) {
		free(l->bindings[i].grant);
		free(l->bindings[i].kind);
		strv_done(&l->bindings[i].files);
		strv_done(&l->bindings[i].env_keys);
	}
	free(l->files);
	free(l->bindings);
	free(l->id);
	free(l->dir);
	free(l->stage);
	*l = (struct plan_lease){.id = NULL};
}

int plan_lease_add_file(struct plan_lease *l, const char *name, mode_t mode)
{
	if (l->n_files == PLAN_LEASE_FILES_MAX)
		return -1;
	l->files = mem_grow(l->files, l->n_files + 1, sizeof(*l->files));
	l->files[l->n_files++] = (struct plan_secret_file){mem_strdup(name), mode};
	return 0;
}

struct plan_binding *plan_lease_add_binding(
	struct plan_lease *l, const char *grant, const char *kind)
{
	if (l->n_bindings == PLAN_LEASE_BINDINGS_MAX)
		return NULL;
	l->bindings = mem_grow(l->bindings, l->n_bindings + 1, sizeof(*l->bindings));
	struct plan_binding *b = &l->bindings[l->n_bindings++];
	*b = (struct plan_binding){
		.grant = mem_strdup(grant),
		.kind = mem_strdup(kind),
		.files = STRV_INIT(PLAN_LEASE_FILES_MAX),
		.env_keys = STRV_INIT(PLAN_LEASE_KEYS_MAX),
	};
	return b;
}

static json_t *files_to_json(const struct plan_lease *l)
{
	json_t *list = json_array();

	for (size_t i = 0; i < l->n_files; i++)
		json_array_append_new(
			list, json_pack("{s:o, s:i}", "name", json_exact(l->files[i].name), "mode",
				      (int)l->files[i].mode));
	return list;
}

static json_t *bindings_to_json(const struct plan_lease *l)
{
	json_t *list = json_array();

	for (size_t i = 0; i < l->n_bindings; i++) {
		const struct plan_binding *b = &l->bindings[i];
		json_array_append_new(list,
			json_pack("{s:o, s:o, s:o, s:o}", "grant", json_exact(b->grant), "kind",
				json_exact(b->kind), "files", json_exact_list(&b->files),
				"env_keys", json_exact_list(&b->env_keys)));
	}
	return list;
}

json_t *plan_lease_to_json(const struct plan_lease *l)
{
	if (!l->id)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:I, s:I, s:b, s:o, s:o}", "id", json_exact(l->id), "dir",
		json_exact(l->dir), "stage", json_exact(l->stage), "expires_at",
		(json_int_t)l->expires_at, "hard_end", (json_int_t)l->hard_end, "lasting",
		l->lasting, "files", files_to_json(l), "bindings", bindings_to_json(l));
}

static int files_from_json(const json_t *list, struct plan_lease *l)
{
	size_t i;
	json_t *f;

	if (!json_is_array(list))
		return -1;
	json_array_foreach(list, i, f)
	{
		auto_free char *name = json_exact_bytes(json_object_get(f, "name"));
		int64_t mode = json_get_int(f, "mode", -1);
		if (!name || mode < 0 || mode > 0777 ||
			plan_lease_add_file(l, name, (mode_t)mode) < 0)
			return -1;
	}
	return 0;
}

static int bindings_from_json(const json_t *list, struct plan_lease *l)
{
	size_t i;
	json_t *one;

	if (!json_is_array(list))
		return -1;
	json_array_foreach(list, i, one)
	{
		auto_free char *grant = json_exact_bytes(json_object_get(one, "grant"));
		auto_free char *kind = json_exact_bytes(json_object_get(one, "kind"));
		struct plan_binding *b =
			grant && kind ? plan_lease_add_binding(l, grant, kind) : NULL;
		if (!b || json_exact_list_bytes(json_object_get(one, "files"), &b->files) < 0 ||
			json_exact_list_bytes(json_object_get(one, "env_keys"), &b->env_keys) < 0)
			return -1;
	}
	return 0;
}

int plan_lease_from_json(const json_t *j, struct plan_lease *ret)
{
	if (!j || json_is_null(j))
		return 0;
	ret->id = json_exact_bytes(json_object_get(j, "id"));
	ret->dir = json_exact_bytes(json_object_get(j, "dir"));
	ret->stage = json_exact_bytes(json_object_get(j, "stage"));
	ret->expires_at = json_get_int(j, "expires_at", 0);
	ret->hard_end = json_get_int(j, "hard_end", 0);
	ret->lasting = json_get_bool(j, "lasting", false);
	if (!ret->id || (ret->dir == NULL) != (ret->stage == NULL) ||
		files_from_json(json_object_get(j, "files"), ret) < 0 ||
		bindings_from_json(json_object_get(j, "bindings"), ret) < 0)
		return -1;
	return ret->n_files > 0 && !ret->dir ? -1 : 0;
}

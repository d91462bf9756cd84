#include "vault/material.h"

#include <string.h>

#include "base/mem.h"

static void free_devices(struct material *m)
{
	for (size_t i = 0; i < m->n_devices; i++) {
		free(m->devices[i].name);
		free(m->devices[i].source);
		free(m->devices[i].target);
		free(m->devices[i].mode);
	}
	free(m->devices);
}

static void free_interfaces(struct material *m)
{
	for (size_t i = 0; i < m->n_interfaces; i++) {
		free(m->interfaces[i].name);
		free(m->interfaces[i].source);
		free(m->interfaces[i].target);
		free(m->interfaces[i].address);
		free(m->interfaces[i].gateway);
	}
	free(m->interfaces);
}

void material_done(struct material *m)
{
	for (size_t i = 0; i < m->n_files; i++) {
		free(m->files[i].name);
		secret_done(&m->files[i].content);
	}
	for (size_t i = 0; i < m->n_variables; i++) {
		free(m->variables[i].name);
		secret_done(&m->variables[i].value);
	}
	for (size_t i = 0; i < m->n_repos; i++) {
		free(m->repos[i].name);
		free(m->repos[i].source);
	}
	for (size_t i = 0; i < m->n_bindings; i++) {
		strv_done(&m->bindings[i].files);
		strv_done(&m->bindings[i].env_keys);
	}
	free_devices(m);
	free_interfaces(m);
	free(m->files);
	free(m->variables);
	free(m->repos);
	free(m->bindings);
	*m = MATERIAL_INIT;
}

/* The next free entry of a list of `max`; NULL: it is full. */
static void *next(void **list, size_t *n, size_t max, size_t size)
{
	if (*n == max)
		return NULL;
	*list = mem_grow(*list, *n + 1, size);
	void *entry = (char *)*list + *n * size;
	memset(entry, 0, size);
	++*n;
	return entry;
}
#define NEXT(list, n, max) next((void **)&(list), &(n), (max), sizeof(*(list)))

int material_add_file(struct material *m, const char *name, mode_t mode, struct secret *content)
{
	struct material_file *f = NEXT(m->files, m->n_files, MATERIAL_FILES_MAX);

	if (!f)
		return -1;
	*f = (struct material_file){mem_strdup(name), mode, *content};
	*content = (struct secret){NULL, 0};
	return 0;
}

int material_add_variable(
	struct material *m, const char *name, struct secret *value, bool sensitive)
{
	struct material_variable *v = NEXT(m->variables, m->n_variables, MATERIAL_ENV_MAX);

	if (!v)
		return -1;
	*v = (struct material_variable){mem_strdup(name), *value, sensitive};
	*value = (struct secret){NULL, 0};
	return 0;
}

int material_add_device(struct material *m, struct material_device *device)
{
	struct material_device *d = NEXT(m->devices, m->n_devices, MATERIAL_DEVICES_MAX);

	if (!d)
		return -1;
	*d = *device;
	*device = (struct material_device){.name = NULL};
	return 0;
}

int material_add_interface(struct material *m, struct material_interface *interface)
{
	struct material_interface *i =
		NEXT(m->interfaces, m->n_interfaces, MATERIAL_INTERFACES_MAX);

	if (!i)
		return -1;
	*i = *interface;
	*interface = (struct material_interface){.name = NULL};
	return 0;
}

int material_add_repo(struct material *m, struct material_repo *repo)
{
	struct material_repo *r = NEXT(m->repos, m->n_repos, MATERIAL_REPOS_MAX);

	if (!r)
		return -1;
	*r = *repo;
	*repo = (struct material_repo){.name = NULL};
	return 0;
}

struct material_binding *material_binding_of(
	struct material *m, const char *grant, enum secret_kind kind)
{
	for (size_t i = 0; i < m->n_bindings; i++)
		if (strcmp(m->bindings[i].grant, grant) == 0)
			return &m->bindings[i];
	struct material_binding *b = NEXT(m->bindings, m->n_bindings, MATERIAL_BINDINGS_MAX);
	if (!b)
		return NULL;
	*b = (struct material_binding){.kind = kind,
		.files = STRV_INIT(MATERIAL_FILES_MAX),
		.env_keys = STRV_INIT(MATERIAL_ENV_MAX)};
	memccpy(b->grant, grant, '\0', sizeof(b->grant) - 1);
	return b;
}

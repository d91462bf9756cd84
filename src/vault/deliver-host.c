/* Kinds that give a part of this host: devices, interfaces, repositories (§16.1-§16.3). */
#include <string.h>

#include "base/mem.h"
#include "vault/deliver-internal.h"
#include "vault/device-node.h"
#include "vault/device-open.h"
#include "vault/device-payload.h"
#include "vault/interface-payload.h"
#include "vault/local-repo-list.h"

/* Does the file's selection leave it? */
static bool selected(const struct schema_list *list, const char *name)
{
	return !list || !list->given || strv_has(&list->items, name);
}

static int bind(const struct delivery *d, struct error *err)
{
	return material_binding_of(d->material, d->grant->id, d->grant->kind)
		       ? 0
		       : deliver_full("grants", err);
}

/* ---- Devices ---- */

static bool device_wanted(const struct delivery *d, const char *name)
{
	const struct material *m = d->material;

	for (size_t i = 0; i < m->n_devices; i++)
		if (strcmp(m->devices[i].name, name) == 0)
			return false;
	return selected(d->spec ? &d->spec->capabilities.devices : NULL, name);
}

static void free_device(struct material_device *d)
{
	free(d->name);
	free(d->source);
	free(d->target);
	free(d->mode);
}

/* What every sandbox has anyway stays as it is there. */
static const char *mode_for(const struct device_node *node, const struct device_entry *e,
	const struct grant_constraints *c)
{
	return device_node_standard(node, text_of(e->target)) ? "rw"
							      : device_payload_mode(e, c->writable);
}

/* The node as it is now, judged. */
static int find_device(const struct delivery *d, const struct device_entry *e,
	struct material_device *ret, struct error *err)
{
	AUTO(device_found) found = {.path = NULL};
	const struct grant_constraints *c = &d->grant->constraints;

	if (device_open_find(e->source, &found, err) < 0 ||
		device_node_judge(&found.node, c->block, e->source, err) < 0)
		return error_prefix(err, "device %s", e->name);
	*ret = (struct material_device){
		.name = mem_strdup(e->name),
		.source = TAKE_PTR(found.path),
		.target = mem_strdup(e->target),
		.mode = mem_strdup(mode_for(&found.node, e, c)),
		.block = found.node.type == DEVICE_BLOCK,
		.rdev = found.rdev,
	};
	return 0;
}

/* All are looked at before the first is added. */
static int find_devices(const struct delivery *d, const struct device_payload *payload,
	struct material_device *ret, size_t *ret_n, struct error *err)
{
	for (size_t i = 0; i < payload->n; i++) {
		if (!device_wanted(d, payload->v[i].name))
			continue;
		if (*ret_n + d->material->n_devices == MATERIAL_DEVICES_MAX)
			return deliver_full("devices", err);
		if (find_device(d, &payload->v[i], &ret[*ret_n], err) < 0)
			return -1;
		++*ret_n;
	}
	return *ret_n == 0 ? DELIVER_FILTERED : bind(d, err);
}

int deliver_devices(const struct delivery *d, struct error *err)
{
	AUTO(device_payload) payload = {.n = 0};
	struct material_device devices[MATERIAL_DEVICES_MAX];
	size_t n = 0;

	if (device_payload_read(d->payload, &payload, err) < 0 ||
		device_payload_select(&payload, &d->grant->constraints.devices, err) < 0)
		return -1;
	int r = find_devices(d, &payload, devices, &n, err);
	for (size_t i = 0; i < n; i++)
		if (r != 0)
			free_device(&devices[i]);
		else if (material_add_device(d->material, &devices[i]) < 0)
			r = deliver_full("devices", err);
	return r;
}

/* ---- Interfaces ---- */

static bool interface_wanted(const struct delivery *d, const char *name)
{
	const struct material *m = d->material;

	for (size_t i = 0; i < m->n_interfaces; i++)
		if (strcmp(m->interfaces[i].name, name) == 0)
			return false;
	return selected(d->spec ? &d->spec->capabilities.interfaces : NULL, name);
}

static char *copy(const char *s)
{
	return s ? mem_strdup(s) : NULL;
}

static int add_interface(
	const struct delivery *d, const struct interface_entry *e, struct error *err)
{
	struct material_interface one = {
		.name = mem_strdup(e->name),
		.source = mem_strdup(e->source),
		.target = mem_strdup(e->target),
		.address = copy(e->address),
		.gateway = copy(e->gateway),
		.mtu = e->mtu,
	};

	return material_add_interface(d->material, &one) < 0 ? deliver_full("interfaces", err) : 0;
}

int deliver_interfaces(const struct delivery *d, struct error *err)
{
	AUTO(interface_payload) payload = {.n = 0};
	size_t n = 0;

	if (interface_payload_read(d->payload, &payload, err) < 0 ||
		interface_payload_select(&payload, &d->grant->constraints.interfaces, err) < 0)
		return -1;
	for (size_t i = 0; i < payload.n; i++)
		n += interface_wanted(d, payload.v[i].name);
	if (n == 0)
		return DELIVER_FILTERED;
	if (d->material->n_interfaces + n > MATERIAL_INTERFACES_MAX)
		return deliver_full("interfaces", err);
	if (bind(d, err) < 0)
		return -1;
	for (size_t i = 0; i < payload.n; i++)
		if (interface_wanted(d, payload.v[i].name) &&
			add_interface(d, &payload.v[i], err) < 0)
			return -1;
	return 0;
}

/* ---- Repositories ---- */

static bool repo_wanted(const struct delivery *d, const char *name)
{
	for (size_t i = 0; i < d->material->n_repos; i++)
		if (strcmp(d->material->repos[i].name, name) == 0)
			return false;
	return true;
}

static int add_repo(const struct delivery *d, const struct local_repo *r, struct error *err)
{
	struct material_repo one = {
		.name = mem_strdup(r->name),
		.source = mem_strdup(r->source),
		.writable = d->grant->constraints.writable,
	};

	return material_add_repo(d->material, &one) < 0 ? deliver_full("repositories", err) : 0;
}

int deliver_repos(const struct delivery *d, struct error *err)
{
	AUTO(local_repos) repos = {.n = 0};
	size_t n = 0;

	if (local_repo_list(d->payload, &d->grant->constraints.repos, &repos, err) < 0)
		return -1;
	for (size_t i = 0; i < repos.n; i++)
		n += repo_wanted(d, repos.v[i].name);
	if (n == 0)
		return DELIVER_FILTERED;
	if (d->material->n_repos + n > MATERIAL_REPOS_MAX)
		return error_set(err, ERROR_LOCAL_REPO_TOO_MANY,
			"more than %d repositories of all grants", MATERIAL_REPOS_MAX);
	if (bind(d, err) < 0)
		return -1;
	for (size_t i = 0; i < repos.n; i++)
		if (repo_wanted(d, repos.v[i].name) && add_repo(d, &repos.v[i], err) < 0)
			return -1;
	return 0;
}

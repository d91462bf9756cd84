#include "vault/deliver.h"

#include <assert.h>

#include "base/mem.h"
#include "sys/clock.h"
#include "vault/deliver-internal.h"
#include "vault/local-repo.h"
#include "vault/variable-name.h"

enum { NS_PER_SECOND = 1000000000 };

static int (*const kinds[])(const struct delivery *d, struct error *err) = {
	[SECRET_ENV] = deliver_env,
	[SECRET_FILE] = deliver_file,
	[SECRET_HOST_DEVICE] = deliver_devices,
	[SECRET_HOST_INTERFACE] = deliver_interfaces,
	[SECRET_LOCAL_REPO] = deliver_repos,
	[SECRET_REGISTRY] = deliver_registry,
	[SECRET_KUBECONFIG] = deliver_kubeconfig,
};
static_assert(ARRAY_SIZE(kinds) == SECRET_KIND_COUNT, "every kind is delivered");

int deliver_grant(const struct delivery *d, struct error *err)
{
	return kinds[d->grant->kind](d, err);
}

int deliver_full(const char *what, struct error *err)
{
	error_set(err, ERROR_OUT_OF_RANGE, "the grants of this run give it too many %s", what);
	return error_set_remedy(err, "see what it would get with cloop secret lease, and revoke "
				     "grants that it does not need");
}

int deliver_plain_variable(
	struct material *m, const char *name, struct text value, struct error *err)
{
	struct secret copy;

	SECRET_CONCAT(&copy, value);
	if (material_add_variable(m, name, &copy, false) == 0)
		return 0;
	secret_done(&copy);
	return deliver_full("variables", err);
}

/* ---- What tells of all of it ---- */

static int note_names(
	struct material *m, const char *variable, const struct strv *names, struct error *err)
{
	if (names->n == 0)
		return 0;
	auto_free char *joined = strv_join(names, ",");
	return deliver_plain_variable(m, variable, text_of(joined), err);
}

static int note_host(struct material *m, struct error *err)
{
	AUTO(strv) devices = STRV_INIT(MATERIAL_DEVICES_MAX);
	AUTO(strv) interfaces = STRV_INIT(MATERIAL_INTERFACES_MAX);

	for (size_t i = 0; i < m->n_devices; i++)
		(void)strv_add(&devices, m->devices[i].name);
	for (size_t i = 0; i < m->n_interfaces; i++)
		(void)strv_add(&interfaces, m->interfaces[i].name);
	return note_names(m, "CLOOP_HOST_DEVICES", &devices, err) < 0
		       ? -1
		       : note_names(m, "CLOOP_HOST_INTERFACES", &interfaces, err);
}

static bool has_variable(const struct material *m, const char *name)
{
	for (size_t i = 0; i < m->n_variables; i++)
		if (text_is(text_of(m->variables[i].name), name))
			return true;
	return false;
}

static int note_repo(
	struct material *m, const struct strv *names, const char *name, struct error *err)
{
	auto_free char *variable = variable_name_of(LOCAL_REPO_VARIABLE, text_of(name));
	auto_free char *path = mem_printf("%s/%s", LOCAL_REPO_ROOT, name);

	/* One called `root` does not take the place of the root. */
	if (variable_name_ambiguous(names, name) || has_variable(m, variable))
		return 0;
	return deliver_plain_variable(m, variable, text_of(path), err);
}

static int note_repos(struct material *m, struct error *err)
{
	AUTO(strv) names = STRV_INIT(MATERIAL_REPOS_MAX);

	for (size_t i = 0; i < m->n_repos; i++)
		(void)strv_add(&names, m->repos[i].name);
	if (names.n == 0)
		return 0;
	auto_free char *joined = local_repo_names(&names);
	if (deliver_plain_variable(m, "CLOOP_LOCAL_REPO_ROOT", TEXT(LOCAL_REPO_ROOT), err) < 0 ||
		deliver_plain_variable(m, "CLOOP_LOCAL_REPOS", text_of(joined), err) < 0)
		return -1;
	strv_foreach (name, &names)
		if (note_repo(m, &names, *name, err) < 0)
			return -1;
	return 0;
}

int deliver_notes(struct material *m, struct error *err)
{
	char end[CLOCK_TEXT_SIZE];

	if (m->dir[0] && deliver_plain_variable(m, "CLOOP_LEASE_DIR", text_of(m->dir), err) < 0)
		return -1;
	if (deliver_plain_variable(m, "CLOOP_LEASE_ID", text_of(m->lease), err) < 0)
		return -1;
	if (m->hard_end != 0) {
		clock_format(m->hard_end * NS_PER_SECOND, end);
		if (deliver_plain_variable(m, "CLOOP_LEASE_EXPIRES_AT", text_of(end), err) < 0)
			return -1;
	}
	return note_host(m, err) < 0 ? -1 : note_repos(m, err);
}

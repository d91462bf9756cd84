#include "spec/requirement.h"

#include <string.h>

#include "base/mem.h"

void requirement_done(struct requirement *r)
{
	for (size_t i = 0; i < r->n_labels; i++) {
		free(r->labels[i].key);
		free(r->labels[i].value);
	}
	free(r->labels);
	free(r->executor_id);
	free(r->platform);
	free(r->arch);
	strv_done(&r->isolation_allowed);
	strv_done(&r->harnesses);
	*r = (struct requirement){0};
}

void requirement_add_label(struct requirement *r, const char *key, const char *value)
{
	r->labels = mem_grow(r->labels, r->n_labels + 1, sizeof(*r->labels));
	r->labels[r->n_labels++] = (struct requirement_label){mem_strdup(key), mem_strdup(value)};
}

void requirement_add_harness(struct requirement *r, const char *program)
{
	r->harnesses.max = REQUIREMENT_HARNESSES_MAX;
	if (!strv_has(&r->harnesses, program))
		(void)strv_add(&r->harnesses, program);
}

static void need_network_off(struct requirement *r, enum requirement_network_off wanted)
{
	if (wanted > r->network_off)
		r->network_off = wanted;
}

static bool is(const char *text, const char *word)
{
	return text && strcmp(text, word) == 0;
}

/* What spec and run spec ask for in the same words. */
static void need_limits(struct requirement *r, const struct limits *l)
{
	r->resource_limits =
		r->resource_limits || l->cpu_millis || l->memory_mb || l->pids || l->disk_mb;
	r->pids_limit = r->pids_limit || l->pids;
	r->disk_limit = r->disk_limit || l->disk_mb;
}

static void need_network(struct requirement *r, bool off, const char *scope)
{
	bool enforced = is(scope, "none");

	if (enforced)
		need_network_off(r, REQUIREMENT_NETWORK_OFF_ENFORCED);
	else if (off)
		need_network_off(r, REQUIREMENT_NETWORK_OFF_ANY);
	r->egress_scope = r->egress_scope || is(scope, "public");
	r->network_egress = r->network_egress || is(scope, "public");
}

static void need_of_spec(struct requirement *r, const struct sandbox_spec *s)
{
	const struct spec_capabilities *c = &s->capabilities;

	r->image_override = r->image_override || s->image;
	r->sandbox_build = r->sandbox_build || s->setup.items.n > 0;
	r->sandbox_mounts = r->sandbox_mounts || s->mounts.n > 0;
	need_limits(r, &s->resources);
	need_network(r, !c->network, c->egress);
	r->network_egress = r->network_egress || c->network;
	r->devices = r->devices || c->devices.items.n > 0;
	r->interfaces = r->interfaces || c->interfaces.items.n > 0;
	r->virtualization = r->virtualization || c->virtualized;
	r->kernel_isolation = r->kernel_isolation || c->kernel_isolated;
	if (c->git)
		requirement_add_harness(r, "git");
}

static void need_of_run(
	struct requirement *r, const struct run_spec *run, const struct sandbox_spec *spec)
{
	bool select_devices = spec && spec->capabilities.devices.given;
	bool select_interfaces = spec && spec->capabilities.interfaces.given;

	r->image_override = r->image_override || run->image;
	r->sandbox_build = r->sandbox_build || run->setup.n > 0;
	r->sandbox_mounts = r->sandbox_mounts || run->n_mounts > 0;
	need_limits(r, &run->limits);
	need_network(r, run->network_off, run->egress_scope);
	r->network_egress = r->network_egress || run->grant;
	r->devices = r->devices || (!select_devices && run->devices.n > 0);
	r->interfaces = r->interfaces || (!select_interfaces && run->interfaces.n > 0);
	r->host_mounts = r->host_mounts || run->host_mounts;
	r->workspace_provisioning =
		r->workspace_provisioning || run->workspace == RUN_WORKSPACE_GIT;
	r->shares_host_filesystem =
		r->shares_host_filesystem || run->workspace == RUN_WORKSPACE_BIND;
	r->write_back = r->write_back || run->write_back;
	r->branch_bundle = r->branch_bundle || run->branch_bundle;
	r->project_seed = r->project_seed || run->project_seed;
	r->secret_files = r->secret_files || run->secret_files;
	r->revocation = r->revocation || run->revocation;
	if (run->harness)
		requirement_add_harness(r, run->harness);
}

void requirement_of(
	const struct sandbox_spec *spec, const struct run_spec *run, struct requirement *r)
{
	if (spec)
		need_of_spec(r, spec);
	if (run)
		need_of_run(r, run, spec);
}

void requirement_names(const struct requirement *r, struct strv *ret)
{
	bool git = strv_has(&r->harnesses, "git");
	const struct {
		bool set;
		const char *name;
	} rows[] = {
		{r->image_override, "image_override"},
		{r->sandbox_build, "sandbox_build"},
		{r->sandbox_mounts, "sandbox_mounts"},
		{r->resource_limits, "resource_limits"},
		{r->pids_limit, "pids_limit"},
		{r->disk_limit, "disk_limit"},
		{r->network_off == REQUIREMENT_NETWORK_OFF_ENFORCED, "network_off_enforced"},
		{r->network_off == REQUIREMENT_NETWORK_OFF_ANY, "network_off"},
		{r->network_egress, "network_egress"},
		{r->egress_scope, "egress_scope"},
		{r->devices, "devices"},
		{r->interfaces, "interfaces"},
		{r->virtualization, "virtualization"},
		{r->kernel_isolation, "kernel_isolation"},
		{git, "git"},
		{r->host_mounts, "host_mounts"},
		{r->workspace_provisioning, "workspace_provisioning"},
		{r->shares_host_filesystem, "shares_host_filesystem"},
		{r->write_back, "write_back"},
		{r->branch_bundle, "branch_bundle"},
		{r->project_seed, "project_seed"},
		{r->secret_files, "secret_files"},
		{r->revocation, "revocation"},
		{r->harnesses.n > (git ? 1u : 0u), "harnesses"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].set)
			(void)strv_add(ret, rows[i].name);
}

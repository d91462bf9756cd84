#include "spec/run-spec.h"

#include "base/json.h"
#include "base/mem.h"
#include "limits/effective.h"
#include "spec/spec-json.h"

static void drop_mounts(struct run_spec *r)
{
	for (size_t i = 0; i < r->n_mounts; i++) {
		free(r->mounts[i].source);
		free(r->mounts[i].target);
	}
	free(r->mounts);
	r->mounts = NULL;
	r->n_mounts = 0;
}

void run_spec_done(struct run_spec *r)
{
	drop_mounts(r);
	free(r->image);
	free(r->grant);
	free(r->egress_scope);
	free(r->harness);
	strv_done(&r->setup);
	strv_done(&r->devices);
	strv_done(&r->interfaces);
	*r = RUN_SPEC_INIT;
}

void run_spec_set_mounts(struct run_spec *r, const struct spec_mount *mounts, size_t n)
{
	drop_mounts(r);
	r->mounts = mem_alloc(n * sizeof(*mounts));
	r->n_mounts = n;
	for (size_t i = 0; i < n; i++)
		r->mounts[i] = (struct spec_mount){mem_strdup(mounts[i].source),
			mem_strdup(mounts[i].target), mounts[i].read_only};
}

static char *copy_string(const char *s)
{
	return s ? mem_strdup(s) : NULL;
}

static struct strv copy_list(const struct strv *from)
{
	struct strv copy = STRV_INIT(from->max);

	strv_add_all(&copy, from);
	return copy;
}

void run_spec_copy(const struct run_spec *from, struct run_spec *to)
{
	*to = *from;
	to->image = copy_string(from->image);
	to->grant = copy_string(from->grant);
	to->egress_scope = copy_string(from->egress_scope);
	to->harness = copy_string(from->harness);
	to->setup = copy_list(&from->setup);
	to->devices = copy_list(&from->devices);
	to->interfaces = copy_list(&from->interfaces);
	to->mounts = NULL;
	to->n_mounts = 0;
	run_spec_set_mounts(to, from->mounts, from->n_mounts);
}

json_t *run_spec_to_json(const struct run_spec *r)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "image",
		spec_json_text(r->image), "setup", json_from_strings(r->setup.v, r->setup.n),
		"mounts", spec_json_mounts(r->mounts, r->n_mounts), "limits",
		effective_limits_to_json(&r->limits), "workspace_size_limit_mb",
		(json_int_t)r->workspace_size_limit_mb, "devices",
		json_from_strings(r->devices.v, r->devices.n), "interfaces",
		json_from_strings(r->interfaces.v, r->interfaces.n), "network_off", r->network_off,
		"grant", spec_json_text(r->grant), "egress_scope", spec_json_text(r->egress_scope),
		"sandbox_sha256", spec_json_text(r->sandbox_sha256), "setup_sha256",
		spec_json_text(r->setup_sha256));
}

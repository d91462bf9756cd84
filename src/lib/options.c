/* Options and text rules for the library's callers (include/cloop/options.h). */
#include "lib/options.h"

#include <string.h>

#include "base/mem.h"
#include "executor/container/validate.h"
#include "image/reference.h"
#include "lib/error.h"
#include "lib/strings.h"

/* What a caller gets, and what its members point into. */
struct normalized {
	struct cloop_container_options shown; /* first: its address is the object's */
	struct lib_options held;
	struct cloop_image_signer *signers;
};

void cloop_container_options_init(struct cloop_container_options *o)
{
	if (!o)
		return;
	memset(o, 0, sizeof(*o));
	o->start_timeout_seconds = o->stop_grace_seconds = o->log_max_mb = -1;
	o->protect_project_files = true;
}

static const char *const *shown_list(const struct strv *list)
{
	return (const char *const *)list->v;
}

static void show_filter(const struct egress_filter *f, struct cloop_egress_filter *ret)
{
	*ret = (struct cloop_egress_filter){
		.enabled = f->enabled,
		.internal = f->internal,
		.allow_cidrs = shown_list(&f->allow_cidrs),
		.deny_cidrs = shown_list(&f->deny_cidrs),
		.allow_ports = shown_list(&f->allow_ports),
		.allow_public_internet = f->allow_public_internet,
		.resolvers = shown_list(&f->resolvers),
		.allow_all_ports = f->allow_all_ports,
		.broker = f->broker,
		.host_patterns = shown_list(&f->host_patterns),
		.ipv6 = f->ipv6,
		.subnet_pool = f->subnet_pool,
		.subnet_pool6 = f->subnet_pool6,
	};
}

static void show_policy(struct normalized *n)
{
	const struct image_policy *p = &n->held.policy;

	n->signers = mem_grow(NULL, p->cosign_identities.n + 1, sizeof(*n->signers));
	for (size_t i = 0; i < p->cosign_identities.n; i++)
		n->signers[i] =
			(struct cloop_image_signer){.issuer = image_policy_identity(p, i)->issuer,
				.subject_regexp = image_policy_identity(p, i)->subject_regexp};
	n->shown.image_policy = (struct cloop_image_policy){
		.allowed_registries = shown_list(&p->allowed_registries.items),
		.allowed_repos = shown_list(&p->allowed_repos.items),
		.require_digest = p->require_digest,
		.require_signature = p->require_signature,
		.cosign_public_keys = shown_list(&p->cosign_public_keys.items),
		.cosign_identities = n->signers,
		.n_cosign_identities = p->cosign_identities.n,
		.cosign_ignore_tlog = p->cosign_ignore_tlog,
		.default_registry =
			p->default_registry && p->default_registry[0] ? p->default_registry : NULL,
		.govern_operator_images = p->govern_operator_images,
		.insecure_registries = shown_list(&p->insecure_registries.items),
	};
}

static void show(struct normalized *n)
{
	const struct container_options *o = &n->held.options;

	n->shown = (struct cloop_container_options){
		.id = o->id,
		.runtime = o->runtime,
		.oci_runtime = o->oci_runtime,
		.group_add = o->group_add,
		.n_group_add = o->n_group_add,
		.image = o->image,
		.network = o->network,
		.cpu_millis = o->cpu_millis,
		.memory_mb = o->memory_mb,
		.pids_limit = o->pids_limit,
		.selinux_label = o->selinux_label,
		.allow_hosts = shown_list(&o->allow_hosts),
		.extra_args = shown_list(&o->extra_args),
		.orphan_grace_period_seconds = o->orphan_grace_period_seconds,
		.start_timeout_seconds = o->start_timeout_seconds,
		.stop_grace_seconds = o->stop_grace_seconds,
		.log_max_mb = o->log_max_mb,
		.allow_root_user = o->allow_root_user,
		.protect_project_files = o->protect_project_files,
		.derived_image_days = n->held.derived_image_days,
		.home = n->held.home,
	};
	show_filter(&n->held.filter, &n->shown.egress_filter);
	show_policy(n);
}

int cloop_container_options_normalize(const struct cloop_container_options *options,
	struct cloop_container_options **normalized, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	struct lib_options held;

	if (LIB_MISSING(e, options, normalized))
		return -1;
	if (lib_options_read(options, &held, e) < 0)
		return -1;
	struct normalized *n = mem_alloc(sizeof(*n));
	n->held = held;
	show(n);
	*normalized = &n->shown;
	return 0;
}

void cloop_container_options_free(struct cloop_container_options *normalized)
{
	struct normalized *n = (struct normalized *)normalized;

	if (!n)
		return;
	lib_options_done(&n->held);
	free(n->signers);
	free(n);
}

int cloop_container_validate_extra_args(const char *const *extra, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	struct text words[OPTIONS_EXTRA_ARGS_MAX + 1];
	size_t n = 0;

	for (; extra && extra[n] && n <= OPTIONS_EXTRA_ARGS_MAX; n++)
		words[n] = text_of(extra[n]);
	return validate_extra_args(words, n, -1, e);
}

int cloop_container_validate_image_ref(const char *ref, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	struct image_reference ignored;

	return image_reference_parse(text_of(lib_text(ref)), &ignored, e);
}

int cloop_container_validate_network(const char *name, struct cloop_error *err)
{
	LIB_ERROR(e, err);

	return validate_network(text_of(lib_text(name)), e);
}

int cloop_container_validate_non_root_user(const char *user, struct cloop_error *err)
{
	LIB_ERROR(e, err);

	return validate_user(text_of(lib_text(user)), e);
}

int cloop_container_validate_oci_runtime(const char *name, struct cloop_error *err)
{
	LIB_ERROR(e, err);

	return validate_oci_runtime(text_of(lib_text(name)), e);
}

void cloop_container_name(
	const char *work_dir, const char *run_id, char name[CLOOP_CONTAINER_NAME_SIZE])
{
	if (name)
		container_name(text_of(lib_text(work_dir)), text_of(lib_text(run_id)), name);
}

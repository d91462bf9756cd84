#include "lib/options.h"

#include "base/mem.h"
#include "lib/egress.h"
#include "lib/error.h"
#include "lib/policy.h"
#include "lib/strings.h"
#include "net/egress-policy.h"

void lib_options_done(struct lib_options *o)
{
	container_options_done(&o->options);
	egress_filter_done(&o->filter);
	image_policy_done(&o->policy);
	free(o->home);
	*o = (struct lib_options){.home = NULL};
}

/* One more than is allowed is kept, so that normalizing sees it. */
static void take_list(const char *const *list, size_t max, struct strv *ret)
{
	*ret = STRV_INIT(max + 1);
	if (list)
		(void)!strv_add_words(ret, list);
}

/* -1 is not given. What marks that below is no number here: it is as much out of range. */
static int64_t or_absent(int64_t value)
{
	return value == -1 ? OPTION_ABSENT : value == OPTION_ABSENT ? OPTION_ABSENT + 1 : value;
}

static void take_scalars(const struct cloop_container_options *in, struct container_options *raw)
{
	mem_set_string(&raw->id, in->id);
	mem_set_string(&raw->runtime, in->runtime);
	mem_set_string(&raw->oci_runtime, in->oci_runtime);
	mem_set_string(&raw->image, in->image);
	mem_set_string(&raw->network, in->network);
	mem_set_string(&raw->selinux_label, in->selinux_label);
	raw->cpu_millis = in->cpu_millis;
	raw->memory_mb = in->memory_mb;
	raw->pids_limit = in->pids_limit;
	raw->egress_filter_enabled = in->egress_filter.enabled;
	raw->orphan_grace_period_seconds = in->orphan_grace_period_seconds;
	raw->start_timeout_seconds = or_absent(in->start_timeout_seconds);
	raw->stop_grace_seconds = or_absent(in->stop_grace_seconds);
	raw->log_max_mb = or_absent(in->log_max_mb);
	raw->allow_root_user = in->allow_root_user;
	raw->protect_project_files = in->protect_project_files;
}

static void take_groups(const struct cloop_container_options *in, struct container_options *raw)
{
	raw->n_group_add = in->n_group_add;
	if (raw->n_group_add > OPTIONS_GROUPS_MAX)
		raw->n_group_add = OPTIONS_GROUPS_MAX + 1;
	for (size_t i = 0; i < raw->n_group_add; i++)
		raw->group_add[i] = in->group_add[i];
}

/* Row 11 stands before the two lists: what is at fault there is told first. */
static int check_filter(
	const struct container_options *raw, const struct egress_filter *filter, struct error *err)
{
	AUTO(container_options) normal = {.id = NULL};
	struct container_options before = *raw;

	if (!filter->enabled)
		return 0;
	before.allow_hosts = before.extra_args = STRV_INIT(0);
	before.start_timeout_seconds = before.stop_grace_seconds = OPTION_ABSENT;
	before.log_max_mb = OPTION_ABSENT;
	if (container_options_normalize(&before, &normal, err) < 0)
		return -1;
	return egress_policy_validate(filter, err) < 0
		       ? lib_egress_explain("option egress_filter", err)
		       : 0;
}

static int check_home(const char *home, struct error *err)
{
	if (!home || home[0] == '/' || home[0] == '\0')
		return 0;
	return error_set(err, ERROR_OPTION_INVALID, "option home: %s is no absolute path",
		quoted_string(home));
}

static int read_all(
	const struct cloop_container_options *in, struct lib_options *o, struct error *err)
{
	AUTO(container_options) raw;

	container_options_init(&raw);
	if (lib_missing_list(err, "group_add", in->group_add, in->n_group_add) ||
		lib_missing_list(err, "image_policy.cosign_identities",
			in->image_policy.cosign_identities, in->image_policy.n_cosign_identities))
		return -1;
	take_scalars(in, &raw);
	take_groups(in, &raw);
	take_list(in->allow_hosts, OPTIONS_ALLOW_HOSTS_MAX, &raw.allow_hosts);
	take_list(in->extra_args, OPTIONS_EXTRA_ARGS_MAX, &raw.extra_args);
	if (lib_egress_read(&in->egress_filter, &o->filter, err) < 0 ||
		check_filter(&raw, &o->filter, err) < 0 ||
		container_options_normalize(&raw, &o->options, err) < 0 ||
		lib_policy_read(&in->image_policy, &o->policy, err) < 0 ||
		check_home(in->home, err) < 0)
		return -1;
	o->derived_image_days = in->derived_image_days;
	mem_set_string(&o->home, lib_given(in->home));
	return 0;
}

int lib_options_read(
	const struct cloop_container_options *in, struct lib_options *ret, struct error *err)
{
	AUTO(lib_options) o = {.home = NULL};

	if (read_all(in, &o, err) < 0)
		return -1;
	*ret = o;
	o = (struct lib_options){.home = NULL};
	return 0;
}

/*
 * The table of options. Reading an option object judges each row as it goes, so that the first
 * error in table order is reported, whether it is one of type or of value.
 */
#include "executor/container/options.h"

#include "base/mem.h"
#include "executor/container/options-row.h"
#include "executor/container/runtime.h"
#include "executor/container/validate.h"
#include "image/reference.h"

int options_wrong_type(const struct options_row *row, const char *wanted, struct error *err)
{
	return error_set(err, row->invalid, "option %s: %s is wanted", row->key, wanted);
}

void container_options_init(struct container_options *o)
{
	*o = (struct container_options){
		.allow_hosts = STRV_INIT(OPTIONS_ALLOW_HOSTS_MAX),
		.extra_args = STRV_INIT(OPTIONS_EXTRA_ARGS_MAX),
		.start_timeout_seconds = OPTION_ABSENT,
		.stop_grace_seconds = OPTION_ABSENT,
		.log_max_mb = OPTION_ABSENT,
		.protect_project_files = true,
	};
}

void container_options_done(struct container_options *o)
{
	free(o->id);
	free(o->runtime);
	free(o->oci_runtime);
	free(o->image);
	free(o->network);
	free(o->selinux_label);
	strv_done(&o->allow_hosts);
	strv_done(&o->extra_args);
	*o = (struct container_options){0};
}

static int image_rule(struct text t, struct error *err)
{
	struct image_reference ignored;

	return image_reference_parse(t, &ignored, err);
}

static int selinux_rule(struct text t, struct error *err)
{
	if (t.len == 0 || text_is(t, "z") || text_is(t, "Z"))
		return 0;
	return error_set(err, ERROR_SELINUX_LABEL_INVALID, "SELinux label %s", quoted(t));
}

static bool network_none(const struct container_options *normal)
{
	return strcmp(normal->network, "none") == 0;
}

static int allow_hosts_rule(
	const struct text *v, size_t n, const struct container_options *normal, struct error *err)
{
	if (n > 0 && network_none(normal))
		return error_set(err, ERROR_ALLOW_HOSTS_WITHOUT_NETWORK,
			"allow_hosts names hosts while network is none");
	if (n > OPTIONS_ALLOW_HOSTS_MAX)
		return error_set(err, ERROR_ADD_HOST_INVALID,
			"allow_hosts has more than %d entries", OPTIONS_ALLOW_HOSTS_MAX);
	for (size_t i = 0; i < n; i++)
		if (validate_add_host(v[i], err) < 0)
			return -1;
	return 0;
}

/* The engine that a (valid) option `runtime` names; -1: left open. */
static int engine_named(const char *runtime)
{
	if (text_ends(text_of(runtime), "podman"))
		return ENGINE_PODMAN;
	return text_ends(text_of(runtime), "docker") ? ENGINE_DOCKER : -1;
}

static int extra_args_rule(
	const struct text *v, size_t n, const struct container_options *normal, struct error *err)
{
	return validate_extra_args(v, n, engine_named(normal->runtime), err);
}

/* Only the switch: the section's own keys are judged where the filter is compiled. */
static OPTIONS_READ(read_egress_filter)
{
	const json_t *enabled = json_object_get(value, "enabled");

	(void)normal;
	if (!json_is_object(value) || (enabled && !json_is_boolean(enabled)))
		return options_wrong_type(row, "a section with a boolean enabled", err);
	raw->egress_filter_enabled = json_is_true(enabled);
	return 0;
}

static OPTIONS_CHECK(check_egress_filter)
{
	if (in->egress_filter_enabled && network_none(out))
		return error_set(err, ERROR_EGRESS_FILTER_NETWORK_NONE,
			"option %s: it is enabled while network is none", row->key);
	out->egress_filter_enabled = in->egress_filter_enabled;
	return 0;
}

static OPTIONS_READ(read_switch)
{
	(void)normal;
	if (!json_is_boolean(value))
		return options_wrong_type(row, "true or false", err);
	*(bool *)options_field(row, raw) = json_is_true(value);
	return 0;
}

static OPTIONS_CHECK(check_switch)
{
	(void)err;
	*(bool *)options_field(row, out) = *(const bool *)options_const_field(row, in);
	return 0;
}

#define FIELD_AS(name, text) .key = (text), .field = offsetof(struct container_options, name)
#define FIELD(name) FIELD_AS(name, #name)
#define TEXT_ROW .read = options_text_read, .check = options_text_check
#define LIST_ROW .read = options_text_read_list, .check = options_text_check_list
#define RANGE_ROW \
	.read = options_number_read, .check = options_number_check_range, \
	.invalid = ERROR_OPTION_OUT_OF_RANGE
#define SWITCH_ROW .read = read_switch, .check = check_switch, .invalid = ERROR_OPTION_INVALID

/* In the order of §3. */
static const struct options_row rows[] = {
	{FIELD(id), TEXT_ROW, .invalid = ERROR_EXECUTOR_ID_INVALID, .rule = validate_executor_id,
		.absent = CONTAINER_DEFAULT_ID, .blank_is_absent = true},
	{FIELD(runtime), TEXT_ROW, .invalid = ERROR_RUNTIME_UNSUPPORTED, .rule = validate_runtime,
		.absent = ""},
	{FIELD(oci_runtime), .read = options_text_read, .check = options_text_check_trimmed,
		.invalid = ERROR_OCI_RUNTIME_INVALID, .rule = validate_oci_runtime, .absent = ""},
	{FIELD(group_add), .read = options_number_read_groups, .check = options_number_check_groups,
		.invalid = ERROR_GROUP_ADD_INVALID},
	{FIELD(image), TEXT_ROW, .invalid = ERROR_OPTION_INVALID, .rule = image_rule,
		.absent = CONTAINER_DEFAULT_IMAGE},
	{FIELD(network), TEXT_ROW, .invalid = ERROR_NETWORK_NAME_INVALID, .rule = validate_network,
		.absent = "none", .blank_is_absent = true},
	{FIELD_AS(cpu_millis, "cpus"), .read = options_number_read_cpus,
		.check = options_number_check_cpus, .invalid = ERROR_CPUS_INVALID},
	{FIELD(memory_mb), .read = options_number_read_memory, .check = options_number_check_memory,
		.invalid = ERROR_MEMORY_INVALID},
	{FIELD(pids_limit), .read = options_number_read, .check = options_number_check_pids,
		.invalid = ERROR_PIDS_INVALID},
	{FIELD(selinux_label), TEXT_ROW, .invalid = ERROR_SELINUX_LABEL_INVALID,
		.rule = selinux_rule, .absent = ""},
	{FIELD_AS(egress_filter_enabled, "egress_filter"), .read = read_egress_filter,
		.check = check_egress_filter, .invalid = ERROR_OPTION_INVALID},
	{FIELD(allow_hosts), LIST_ROW, .invalid = ERROR_ADD_HOST_INVALID,
		.list_rule = allow_hosts_rule},
	{FIELD(extra_args), LIST_ROW, .invalid = ERROR_OPTION_INVALID,
		.list_rule = extra_args_rule},
	{FIELD(orphan_grace_period_seconds), .read = options_number_read,
		.check = options_number_check_grace, .invalid = ERROR_OPTION_INVALID, .unset = 600},
	{FIELD(start_timeout_seconds), RANGE_ROW, .least = 10, .largest = 3600, .unset = 120},
	{FIELD(stop_grace_seconds), RANGE_ROW, .least = 0, .largest = 600, .unset = 10},
	{FIELD(log_max_mb), RANGE_ROW, .least = 1, .largest = 4096, .unset = 64},
	{FIELD(allow_root_user), SWITCH_ROW},
	{FIELD(protect_project_files), SWITCH_ROW},
};

/* Keys of the same section that other areas read (row 20). */
static const char *const foreign_keys[] = {"disk_quota", "derived_image_days", "image_policy"};

int container_options_normalize(
	const struct container_options *in, struct container_options *ret, struct error *err)
{
	AUTO(container_options) out;

	container_options_init(&out);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].check(&rows[i], in, &out, err) < 0)
			return -1;
	container_options_done(ret);
	*ret = out;
	out = (struct container_options){0};
	return 0;
}

static bool key_known(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].key, key) == 0)
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(foreign_keys); i++)
		if (strcmp(foreign_keys[i], key) == 0)
			return true;
	return false;
}

static int check_keys(const json_t *object, struct error *err)
{
	if (!json_is_object(object))
		return error_set(err, ERROR_OPTION_INVALID, "the options are not an object");
	for (void *at = json_object_iter((json_t *)(uintptr_t)object); at;
		at = json_object_iter_next((json_t *)(uintptr_t)object, at))
		if (!key_known(json_object_iter_key(at)))
			return error_set(err, ERROR_OPTION_UNKNOWN, "option %s is unknown",
				quoted_string(json_object_iter_key(at)));
	return 0;
}

int container_options_from_json(
	const json_t *object, struct container_options *ret, struct error *err)
{
	AUTO(container_options) raw, normal;

	container_options_init(&raw);
	container_options_init(&normal);
	if (check_keys(object, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct options_row *row = &rows[i];
		const json_t *value = json_object_get(object, row->key);
		bool given = value && !json_is_null(value);
		if (given && row->read(row, value, &raw, &normal, err) < 0)
			return -1;
		if (row->check(row, &raw, &normal, err) < 0)
			return -1;
	}
	container_options_done(ret);
	*ret = raw;
	raw = (struct container_options){0};
	return 0;
}

/*
 * container_options_normalize() judges a whole set of options and reports the first error. Here
 * each option is judged alone, on a set that holds nothing else but the options its rule looks at,
 * so that every option at fault is reported at its place and the rules stay in one place.
 */
#include "config/values-check.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "config/filter-check.h"
#include "config/values.h"
#include "egress/remote.h"
#include "executor/build.h"
#include "executor/container/validate.h"
#include "net/egress-filter.h"

static bool refuse(struct schema_bind *b, const struct node *n, const char *what)
{
	auto_error struct error err = ERROR_INIT;

	error_set(&err, ERROR_NOT_AVAILABLE_YET, "%s is not available in this version", what);
	error_set_remedy(&err, "remove the key: this version would not do what it says");
	schema_problem_error(b, n, &err);
	return false;
}

bool values_check_listen(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value)
{
	auto_error struct error err = ERROR_INIT;

	(void)key;
	if (value.len == 0 || remote_check_listen(value, &err) == 0)
		return true;
	schema_problem_error(b, n, &err);
	return false;
}

bool values_check_advertise(struct schema_bind *b, const struct schema_key *key,
	const struct node *n, struct text value)
{
	auto_error struct error err = ERROR_INIT;

	(void)key;
	if (value.len == 0 || remote_check_advertise(value, &err) == 0)
		return true;
	schema_problem_error(b, n, &err);
	return false;
}

bool values_check_id(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value)
{
	auto_error struct error err = ERROR_INIT;

	(void)key;
	if (validate_executor_id(value, &err) == 0)
		return true;
	schema_problem_error(b, n, &err);
	return false;
}

bool values_check_build(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value)
{
	(void)key;
	if (build_valid(value))
		return true;
	schema_warning(b, PROBLEM_BAD_NAME, n,
		"%s is no vMAJOR.MINOR.PATCH: no agent will get work", schema_quoted(value));
	problems_set_remedy(b->warnings, "write a build such as v1.2.3, or remove the key");
	return true;
}

bool values_check_cpus(
	struct schema_bind *b, const struct schema_key *key, const struct node *n, void *field)
{
	auto_error struct error err = ERROR_INIT;
	uint64_t millis;

	(void)key;
	if (n->kind != NODE_SCALAR) {
		schema_problem(b, PROBLEM_WRONG_TYPE, n, "a number of cores is wanted here, not %s",
			node_kind_text(n));
		return false;
	}
	if (container_options_cpus(text_trim(n->text), &millis, &err) < 0) {
		schema_problem_error(b, n, &err);
		return false;
	}
	*(uint64_t *)field = millis;
	return true;
}

void values_check_executors(struct schema_bind *b, const struct schema_section *s, void *out)
{
	(void)out;
	if (!section_valid(s, "orphan_sweep_interval_minutes"))
		return;
	schema_warning(b, PROBLEM_NO_EFFECT, section_value(s, "orphan_sweep_interval_minutes"),
		"the hub reads it, which this version does not have: nothing is swept by itself");
	problems_set_remedy(b->warnings,
		"let a timer run cloop executor reap (cloop-reap.timer), and remove the key");
}

void values_check_kubernetes(struct schema_bind *b, const struct schema_section *s, void *out)
{
	const struct values_kubernetes *k = out;

	if (k->enabled)
		refuse(b, section_value(s, "enabled"), "the Kubernetes executor");
}

/* ---- Options of containers ---- */

static int read_groups(
	const struct values_container *c, struct container_options *to, struct error *err)
{
	const struct strv *items = &c->group_add.items;
	uint64_t group;

	if (items->n > OPTIONS_GROUPS_MAX)
		return error_set(err, ERROR_GROUP_ADD_INVALID, "group_add has more than %d groups",
			OPTIONS_GROUPS_MAX);
	for (size_t i = 0; i < items->n; i++) {
		if (num_parse(text_of(items->v[i]), INT32_MAX, &group) != NUM_OK || group == 0)
			return error_set(err, ERROR_GROUP_ADD_INVALID,
				"group_add: %s is not from 1 to %d", quoted_string(items->v[i]),
				INT32_MAX);
		to->group_add[to->n_group_add++] = (uint32_t)group;
	}
	return 0;
}

/* Takes the whole list: the option's own rule says how long it may be. */
static void take_list(const struct schema_list *from, struct strv *to)
{
	strv_done(to);
	*to = STRV_INIT(from->items.n);
	int done = strv_add_all(to, &from->items);
	assert(done == 0);
}

enum option_type { OPTION_TEXT, OPTION_GROUPS, OPTION_LIST, OPTION_FILTER };

/* Options whose rule is more than a range; those that `with` names come first. */
static const struct option_row {
	const char *key;
	enum option_type type;
	size_t offset; /* in struct container_options */
	size_t list;   /* OPTION_LIST: in struct values_container */
	int with;      /* row that the rule looks at as well; -1 = none */
} option_rows[] = {
#define TEXT_ROW(name) \
	{ \
#name, OPTION_TEXT, offsetof(struct container_options, name), 0, -1 \
	}
#define LIST_ROW(name, with) \
	{ \
#name, OPTION_LIST, offsetof(struct container_options, name), \
			offsetof(struct values_container, name), with \
	}
	TEXT_ROW(runtime), /* row 0 */
	TEXT_ROW(network), /* row 1 */
	TEXT_ROW(id),
	TEXT_ROW(oci_runtime),
	TEXT_ROW(image),
	TEXT_ROW(selinux_label),
	{"group_add", OPTION_GROUPS, 0, 0, -1},
	LIST_ROW(extra_args, 0),
	LIST_ROW(allow_hosts, 1),
	{"egress_filter", OPTION_FILTER, 0, 0, 1},
#undef TEXT_ROW
#undef LIST_ROW
};

/* The option as it was bound, into a set of options. */
static int copy_option(const struct option_row *row, const struct values_container *c,
	struct container_options *to, struct error *err)
{
	const char *from = (const char *)&c->options + row->offset;
	void *at = (char *)to + row->offset;

	switch (row->type) {
	case OPTION_TEXT:
		mem_set_string(at, *(char *const *)from);
		return 0;
	case OPTION_GROUPS:
		return read_groups(c, to, err);
	case OPTION_LIST:
		take_list((const void *)((const char *)c + row->list), at);
		return 0;
	case OPTION_FILTER:
		to->egress_filter_enabled = c->filter.enabled;
		return 0;
	}
	return 0;
}

static int judge_option(
	const struct option_row *row, const struct values_container *c, struct error *err)
{
	AUTO(container_options) alone;
	AUTO(container_options) normalized;

	container_options_init(&alone);
	container_options_init(&normalized);
	if (copy_option(row, c, &alone, err) < 0)
		return -1;
	if (row->with >= 0 && copy_option(&option_rows[row->with], c, &alone, err) < 0)
		return -1;
	return container_options_normalize(&alone, &normalized, err);
}

/* Its keys can only be set before it is enabled, so the last step is easily forgotten. */
static void warn_of_idle_filter(
	struct schema_bind *b, const struct schema_section *s, const struct values_container *c)
{
	const char *network = c->options.network;
	AUTO(egress_filter) f;

	filter_copy(&c->filter, &f);
	if (!egress_filter_idle(&f) || !network || !network[0] || strcmp(network, "none") == 0)
		return;
	schema_warning(b, PROBLEM_EGRESS_FILTER_DISABLED, section_value(s, "egress_filter"),
		"the filter says what to open, but enabled is false: networks are not filtered");
}

void values_check_container(struct schema_bind *b, const struct schema_section *s, void *out)
{
	const struct values_container *c = out;
	bool wrong[ARRAY_SIZE(option_rows)] = {false};

	for (size_t i = 0; i < ARRAY_SIZE(option_rows); i++) {
		auto_error struct error err = ERROR_INIT;
		const struct option_row *row = &option_rows[i];
		wrong[i] = section_given(s, row->key) && !section_valid(s, row->key);
		if (!section_valid(s, row->key) || (row->with >= 0 && wrong[row->with]))
			continue;
		wrong[i] = judge_option(row, c, &err) < 0;
		if (wrong[i])
			schema_problem_error(b, section_value(s, row->key), &err);
	}
	warn_of_idle_filter(b, s, c);
}

int values_check_options(
	const struct values_container *c, struct container_options *ret, struct error *err)
{
	AUTO(container_options) all;

	container_options_init(&all);
	for (size_t i = 0; i < ARRAY_SIZE(option_rows); i++)
		if (copy_option(&option_rows[i], c, &all, err) < 0)
			return -1;
	all.cpu_millis = c->options.cpu_millis;
	all.memory_mb = c->options.memory_mb;
	all.pids_limit = c->options.pids_limit;
	all.orphan_grace_period_seconds = c->options.orphan_grace_period_seconds;
	all.start_timeout_seconds = c->options.start_timeout_seconds;
	all.stop_grace_seconds = c->options.stop_grace_seconds;
	all.log_max_mb = c->options.log_max_mb;
	all.allow_root_user = c->options.allow_root_user;
	all.protect_project_files = c->options.protect_project_files;
	return container_options_normalize(&all, ret, err);
}

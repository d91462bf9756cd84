#include "config/config.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "config/filter-check.h"
#include "config/source.h"
#include "config/values-check.h"
#include "config/values.h"
#include "image/cosign-key.h"
#include "yaml/reader.h"

void config_done(struct config *c)
{
	free(c->default_id);
	free(c->min_agent_build);
	published_images_done(&c->provenance.published);
	container_options_done(&c->container);
	egress_filter_done(&c->filter);
	free(c->egress.listen_addr);
	free(c->egress.advertise_addr);
	image_policy_done(&c->image_policy);
	*c = (struct config){0};
}

void config_report_done(struct config_report *r)
{
	problems_done(&r->errors);
	problems_done(&r->warnings);
	*r = (struct config_report){0};
}

/* ---- Text to values ---- */

static void take_values(struct values *v, struct config *c)
{
	struct values_executors *e = &v->executors;

	c->default_id = TAKE_PTR(e->default_id);
	c->allow_host_process = e->allow_host_process;
	c->min_agent_build = TAKE_PTR(e->min_agent_build);
	c->orphan_sweep_interval_minutes = e->orphan_sweep_interval_minutes;
	c->fleet = e->limits;
	c->provenance.mode =
		(enum provenance_mode)provenance_mode_from_text(text_of(e->image_provenance));
	c->provenance.published = e->published;
	e->published = (struct published_images){.issuer = NULL};
	c->egress = e->egress;
	e->egress.listen_addr = e->egress.advertise_addr = NULL;
	c->container_enabled = e->container.enabled;
	egress_filter_done(&c->filter);
	filter_copy(&e->container.filter, &c->filter);
	c->disk_quota = strcmp(e->container.disk_quota, "auto") == 0;
	c->derived_image_days = e->container.derived_image_days;
	c->min_free_disk_mb = v->orchestrator.min_free_disk_mb;
	c->image_policy = v->sandbox.image_policy;
	v->sandbox.image_policy = (struct image_policy){.default_registry = NULL};
}

/* Every option passed its own rule; this would find a rule across options that has no row. */
static void build_options(
	const struct values *v, struct container_options *ret, struct problems *errors)
{
	auto_error struct error err = ERROR_INIT;

	if (values_check_options(&v->executors.container, ret, &err) < 0)
		problems_add_error(errors, POSITION_NONE, "executors.container", &err);
}

static void locate_keys(const struct tree *tree, struct position at[POLICY_KEYS_MAX])
{
	const struct node *list =
		tree->root ? node_find(tree->root, "sandbox.image_policy.cosign_public_keys")
			   : NULL;
	const struct node *n = list && list->kind == NODE_SEQUENCE ? list->first : NULL;

	for (; n && n->index < POLICY_KEYS_MAX; n = n->next)
		at[n->index] = n->at;
}

/* c gets the places that are asked for later, the values all others. */
static void bind(struct text bytes, struct values *v, struct config *c, struct problems *errors,
	struct problems *warnings)
{
	AUTO(tree) tree = TREE_INIT;
	struct reader_rules rules = {.max_events = READER_CONFIG_EVENTS};
	struct schema_bind b = {.errors = errors, .warnings = warnings, .tree = &tree};

	if (reader_read(bytes, &rules, errors, &tree) != 0)
		return;
	schema_bind_document(&b, &values_schema, v);
	locate_keys(&tree, c->key_at);
}

int config_parse(
	struct text bytes, struct config *ret, struct problems *errors, struct problems *warnings)
{
	AUTO(values) values;
	AUTO(config) c = {0};

	values_init(&values);
	container_options_init(&c.container);
	bind(bytes, &values, &c, errors, warnings);
	if (errors->total == 0)
		build_options(&values, &c.container, errors);
	problems_finish(errors);
	problems_finish(warnings);
	if (errors->total > 0)
		return 1;
	take_values(&values, &c);
	*ret = c;
	c = (struct config){0};
	return 0;
}

/* ---- Files ---- */

int config_read(
	const char *path, struct config *ret, struct config_report *ret_report, struct error *err)
{
	AUTO(str) bytes = STR_INIT(CONFIG_MAX_BYTES + 1);
	mode_t mode;

	*ret_report = (struct config_report){.errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX),
		.warnings = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX)};
	int found = source_read(path, &bytes, &mode, err);
	if (found < 0)
		return -1;
	ret_report->present = found == 0;
	return config_parse((struct text){str_text(&bytes), bytes.len}, ret, &ret_report->errors,
		&ret_report->warnings);
}

void config_check_keys(const struct config *c, struct problems *warnings)
{
	const struct strv *keys = &c->image_policy.cosign_public_keys.items;

	for (size_t i = 0; i < keys->n; i++) {
		auto_free char *path =
			mem_printf("sandbox.image_policy.cosign_public_keys[%zu]", i);
		auto_error struct error why = ERROR_INIT;
		struct cosign_key key;
		if (cosign_key_read(keys->v[i], &key, &why) < 0)
			problems_add(warnings, PROBLEM_KEY_UNREADABLE, c->key_at[i], path, "%s",
				why.message);
	}
	problems_finish(warnings);
}

/* Nothing but this section is wrong. */
static bool only(const char *section, const struct problems *errors)
{
	size_t n = strlen(section);

	for (size_t i = 0; i < errors->n; i++) {
		const char *path = errors->v[i].path;
		if (strncmp(path, section, n) != 0 || (path[n] != '\0' && path[n] != '.'))
			return false;
	}
	return true;
}

static enum error_code code_of(const struct problems *errors)
{
	static const struct {
		const char *section;
		enum error_code code;
	} rows[] = {
		{"executors.limits", ERROR_LIMITS_CONFIGURATION},
		{"sandbox.image_policy", ERROR_SANDBOX_IMAGE_DENIED},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (only(rows[i].section, errors))
			return rows[i].code;
	return ERROR_CONFIG_INVALID;
}

int config_refuse(const struct problems *errors, const char *path, struct error *err)
{
	AUTO(str) summary = STR_INIT(ERROR_TEXT_MAX);

	problems_summary(errors, path, &summary);
	error_set(err, code_of(errors), "invalid configuration: %s", str_text(&summary));
	error_set_remedy(err, "%s", errors->v[0].remedy);
	error_add_detail(err, "path", json_from_string(path));
	return error_add_detail(err, "errors", problems_to_json(errors));
}

int config_load(const char *path, struct config *ret, struct error *err)
{
	AUTO(config_report) report;
	int result = config_read(path, ret, &report, err);

	return result <= 0 ? result : config_refuse(&report.errors, path, err);
}

/* ---- Views ---- */

const char *config_default_executor(const struct config *c)
{
	if (c->default_id)
		return c->default_id;
	if (c->container_enabled)
		return c->container.id;
	return c->allow_host_process ? "localprocess" : CONTAINER_DEFAULT_ID;
}

struct check_policy config_policy(const struct config *c)
{
	return (struct check_policy){c->allow_host_process, text_of(c->min_agent_build)};
}

struct executor_settings config_executor_settings(const struct config *c, const char *home)
{
	return (struct executor_settings){
		.home = home,
		.container = c->container_enabled ? &c->container : NULL,
		.filter = &c->filter,
		.image_policy = &c->image_policy,
		.provenance = &c->provenance,
		.derived_image_days = c->derived_image_days,
		.allow_host_process = c->allow_host_process,
		.egress_enabled = c->egress.enabled,
	};
}

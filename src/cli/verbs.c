#include "cli/verbs.h"

#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"

const struct verb *const verbs[] = {
	&cmd_run,
	&cmd_ps,
	&cmd_status,
	&cmd_logs,
	&cmd_stop,
	&cmd_wait,
	&cmd_attach,
	&cmd_sandbox_check,
	&cmd_sandbox_explain,
	&cmd_sandbox_init,
	&cmd_sandbox_schema,
	&cmd_image_check,
	&cmd_image_parse,
	&cmd_image_resolve,
	&cmd_executor_list,
	&cmd_executor_show,
	&cmd_executor_test,
	&cmd_executor_reap,
	&cmd_executor_bind,
	&cmd_egress_grant,
	&cmd_egress_list,
	&cmd_egress_revoke,
	&cmd_egress_test,
	&cmd_egress_firewall,
	&cmd_project_list,
	&cmd_project_show,
	&cmd_project_set,
	&cmd_project_forget,
	&cmd_limits_list,
	&cmd_limits_set,
	&cmd_limits_clear,
	&cmd_task_add,
	&cmd_task_list,
	&cmd_task_show,
	&cmd_task_reset,
	&cmd_journal,
	&cmd_secret_mint,
	&cmd_secret_list,
	&cmd_secret_delete,
	&cmd_secret_rekey,
	&cmd_secret_grant,
	&cmd_secret_grants,
	&cmd_secret_revoke,
	&cmd_secret_lease,
	&cmd_lease_list,
	&cmd_lease_revoke,
	&cmd_lease_extend,
	&cmd_audit_list,
	&cmd_audit_verify,
	&cmd_audit_export,
	&cmd_config_init,
	&cmd_config_check,
	&cmd_config_show,
	&cmd_config_set,
	&cmd_doctor,
	&cmd_help,
	&cmd_completion,
	&cmd_version,
	&cmd_generate_man,
	NULL,
};

static const struct group {
	const char *name;
	const char *summary;
} groups[] = {
	{"task", "what is to be run in the project"},
	{"sandbox", "the project's .cloop/sandbox.yaml"},
	{"image", "image references and the operator's policy"},
	{"executor", "where runs can happen"},
	{"egress", "what sandboxes reach on networks"},
	{"project", "what is set for a project, outside its repository"},
	{"limits", "the operator's ceilings of executors and projects"},
	{"secret", "secrets, and who may have them"},
	{"lease", "what runs hold of secrets"},
	{"audit", "the hash-chained trail of what was refused and granted"},
	{"config", "the operator's configuration"},
};

static const struct common {
	unsigned flag;
	const char *name;
} common_flags[] = {
	{VERB_DIR, "-C"},
	{VERB_HOME, "--home"},
	{VERB_CONFIG | VERB_HOME, "--config"},
	{VERB_JSON, "--json"},
};

const struct option verbs_common[] = {
	{"-C", "DIR", "the project's directory; default: the current one", NULL, false},
	{"--home", "DIR", "where cloop keeps its state", NULL, false},
	{"--config", "FILE", "the operator's configuration", NULL, false},
	{"--json", NULL, "answer with one JSON object", NULL, false},
	{"-h", NULL, "show this help", NULL, false},
	{"--help", NULL, "show this help", NULL, false},
	{0},
};

static bool is_common(const struct option *o)
{
	return o >= verbs_common && o < verbs_common + ARRAY_SIZE(verbs_common);
}

unsigned verbs_common_flag(const struct option *o)
{
	for (size_t i = 0; is_common(o) && i < ARRAY_SIZE(common_flags); i++)
		if (strcmp(common_flags[i].name, o->name) == 0)
			return common_flags[i].flag;
	return 0;
}

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

const struct verb *verbs_find(const char *group, const char *name)
{
	for (const struct verb *const *v = verbs; *v; v++)
		if (same((*v)->group, group) && same((*v)->name, name))
			return *v;
	return NULL;
}

bool verbs_is_group(const char *word)
{
	for (const struct verb *const *v = verbs; *v; v++)
		if ((*v)->group && same((*v)->group, word))
			return true;
	return false;
}

const char *verbs_group_summary(const char *group)
{
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (same(groups[i].name, group))
			return groups[i].summary;
	return "";
}

static const struct option *find_option(const struct option *list, struct text name)
{
	for (; list && list->name; list++)
		if (text_is(name, list->name))
			return list;
	return NULL;
}

const struct option *verbs_option(const struct verb *v, const char *name, size_t len)
{
	const struct option *o = find_option(v ? v->options : NULL, (struct text){name, len});

	return o ? o : find_option(verbs_common, (struct text){name, len});
}

void verbs_write_name(struct str *out, const struct verb *v, char separator)
{
	if (v->group) {
		str_add_text(out, v->group);
		str_add_char(out, separator);
	}
	str_add_text(out, v->name);
}

enum { NEAR = 2 };

struct nearest {
	const char *word;
	unsigned distance;
};

static void consider(struct nearest *n, const char *candidate, const char *word)
{
	unsigned d = text_distance(text_of(candidate), text_of(word), NEAR);

	if (d < n->distance)
		*n = (struct nearest){candidate, d};
}

const char *verbs_nearest(const char *group, const char *word)
{
	struct nearest n = {NULL, NEAR + 1};

	for (const struct verb *const *v = verbs; *v; v++) {
		if ((*v)->flags & VERB_HIDDEN)
			continue;
		if (same((*v)->group, group))
			consider(&n, (*v)->name, word);
		else if (!group)
			consider(&n, (*v)->group, word);
	}
	return n.word;
}

/* Words of other tools for what has another name here. */
static const struct {
	const char *group, *word, *remedy;
} elsewhere[] = {
	{"config", "unset", "cloop config set KEY, without a value, takes the key out"},
	{"config", "get", "see: cloop config show KEY"},
	{"config", "list", "see: cloop config show --defaults"},
	{NULL, "hub", "there is no hub in this version; cloop doctor checks this machine"},
};

int verbs_unknown(const char *group, const char *word, struct error *err)
{
	const char *near = verbs_nearest(group, word), *blank = group ? " " : "";
	auto_free char *words = mem_printf("%s%s%s", group ? group : "", blank, word);

	error_set(err, ERROR_USAGE, "unknown command %s", quoted_string(words));
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++)
		if (same(elsewhere[i].group, group) && same(elsewhere[i].word, word))
			return error_set_remedy(err, "%s", elsewhere[i].remedy);
	if (near)
		return error_set_remedy(
			err, "did you mean cloop %s%s%s?", group ? group : "", blank, near);
	return error_set_remedy(err, "see: cloop help%s%s", blank, group ? group : "");
}

const struct option *verbs_next_option(const struct verb *v, const struct option *o)
{
	if (!o)
		o = v && v->options ? v->options : verbs_common;
	else
		o++;
	if (!o->name && !is_common(o))
		o = verbs_common;
	while (o->name && is_common(o)) {
		unsigned flag = verbs_common_flag(o);
		if (!flag || !v || v->flags & flag)
			break;
		o++;
	}
	return o->name ? o : NULL;
}

const char *verbs_nearest_option(const struct verb *v, const char *word)
{
	struct nearest n = {NULL, NEAR + 1};

	verbs_foreach_option(o, v) consider(&n, o->name, word);
	return n.word;
}

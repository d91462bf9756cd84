/*
 * One script per shell, all of the same build: the words before the cursor are walked once to find
 * the command (`command`: "", a group, or a command), options that take a value skip it, and then
 * the words, options or files that fit there are offered.
 */
#include "cli/completion.h"

#include <string.h>

#include "cli/verbs.h"

static bool shown(const struct verb *v)
{
	return !(v->flags & VERB_HIDDEN);
}

#define foreach_verb(v) \
	for (const struct verb *const *v = verbs; *v; v++) \
		if (shown(*v))

/* First verb of its group in the table. */
static bool starts_group(const struct verb *const *v)
{
	return (*v)->group && (v == verbs || !v[-1]->group || strcmp(v[-1]->group, (*v)->group));
}

static void add_words(struct str *out, const char *group)
{
	foreach_verb(v)
	{
		if (group ? (*v)->group && !strcmp((*v)->group, group) : !(*v)->group)
			str_addf(out, "%s ", (*v)->name);
		else if (!group && starts_group(v))
			str_addf(out, "%s ", (*v)->group);
	}
}

static void add_options(struct str *out, const struct verb *v)
{
	verbs_foreach_option(o, v) str_addf(out, "%s ", o->name);
}

/* Patterns of all options that take a value, for `case`: "-C|--home|…". */
static void add_value_options(struct str *out)
{
	AUTO(str) seen = STR_INIT(16 << 10);

	str_add_char(&seen, '|');
	foreach_verb(v) verbs_foreach_option(o, *v)
	{
		AUTO(str) item = STR_INIT(128);
		str_addf(&item, "|%s|", o->name);
		if (o->value && !strstr(str_text(&seen), str_text(&item)))
			str_addf(&seen, "%s|", o->name);
	}
	for (const struct option *o = verbs_common; o->name; o++) {
		AUTO(str) item = STR_INIT(128);
		str_addf(&item, "|%s|", o->name);
		if (o->value && !strstr(str_text(&seen), str_text(&item)))
			str_addf(&seen, "%s|", o->name);
	}
	str_add(out, seen.data + 1, seen.len - 2);
}

/* What one shell needs to offer things. */
struct dialect {
	const char *words, *words_end; /* around words that are separated by blanks */
	const char *files;
	const char *dirs;
};

static void offer(struct str *out, const struct dialect *d, const struct option *o)
{
	if (o->choices)
		str_addf(out, "%s%s%s", d->words, o->choices, d->words_end);
	else if (strcmp(o->value, "DIR") == 0)
		str_add_text(out, d->dirs);
	else
		str_add_text(out, d->files);
}

static void add_name(struct str *out, const struct verb *v)
{
	verbs_write_name(out, v, ' ');
}

/* case "$command:$prev" arms: values of options. */
static void add_value_arms(struct str *out, const struct dialect *d)
{
	foreach_verb(v) for (const struct option *o = (*v)->options; o && o->name; o++)
	{
		if (!o->value)
			continue;
		str_add_text(out, "\t\"");
		add_name(out, *v);
		str_addf(out, ":%s\") ", o->name);
		offer(out, d, o);
		str_add_text(out, "; return ;;\n");
	}
	for (const struct option *o = verbs_common; o->name; o++) {
		if (!o->value)
			continue;
		str_addf(out, "\t*:%s) ", o->name);
		offer(out, d, o);
		str_add_text(out, "; return ;;\n");
	}
}

/* case "$command" arms: the words or options of a command. */
static void add_command_arms(struct str *out)
{
	str_add_text(out, "\t\"\") next=\"");
	add_words(out, NULL);
	str_add_text(out, "\"; opts=\"");
	add_options(out, NULL);
	str_add_text(out, "\" ;;\n");
	foreach_verb(v)
	{
		if (starts_group(v)) {
			str_addf(out, "\t\"%s\") next=\"", (*v)->group);
			add_words(out, (*v)->group);
			str_add_text(out, "\"; opts=\"--help\" ;;\n");
		}
		str_add_text(out, "\t\"");
		add_name(out, *v);
		str_add_text(out, "\") opts=\"");
		add_options(out, *v);
		str_add_text(out, "\" ;;\n");
	}
}

static void add_groups(struct str *out)
{
	foreach_verb(v) if (starts_group(v)) str_addf(out, "%s|", (*v)->group);
	str_add_text(out, "\"\"");
}

static void add_walk(struct str *out)
{
	str_add_text(out, "\t\tcase \"$word\" in\n\t\t--) return ;;\n\t\t");
	add_value_options(out);
	str_add_text(out, ") i=$((i + 1)) ;;\n\t\t-*) ;;\n"
			  "\t\t*) case \"$command\" in\n"
			  "\t\t\t\"\") command=$word ;;\n\t\t\t");
	add_groups(out);
	str_add_text(out, ") command=\"$command $word\" ;;\n\t\t\tesac ;;\n\t\tesac\n");
}

static void bash(struct str *out)
{
	static const struct dialect d = {
		.words = "COMPREPLY=($(compgen -W \"",
		.words_end = "\" -- \"$cur\"))",
		.files = "compopt -o default",
		.dirs = "compopt -o dirnames",
	};

	str_add_text(out, "# bash completion for cloop, made by: cloop completion bash\n"
			  "_cloop()\n{\n"
			  "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
			  "\tlocal word command=\"\" next=\"\" opts=\"\" i\n"
			  "\tCOMPREPLY=()\n"
			  "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
			  "\t\tword=${COMP_WORDS[i]}\n");
	add_walk(out);
	str_add_text(out, "\tdone\n\tcase \"$command:$prev\" in\n");
	add_value_arms(out, &d);
	str_add_text(out, "\tesac\n\tcase \"$command\" in\n");
	add_command_arms(out);
	str_add_text(out,
		"\tesac\n"
		"\tcase \"$cur\" in\n"
		"\t-*) COMPREPLY=($(compgen -W \"$opts\" -- \"$cur\")) ;;\n"
		"\t*) if [[ $next ]]; then COMPREPLY=($(compgen -W \"$next\" -- \"$cur\"))\n"
		"\t\telse compopt -o default; fi ;;\n"
		"\tesac\n}\n"
		"complete -F _cloop cloop\n");
}

static void zsh(struct str *out)
{
	static const struct dialect d = {
		.words = "compadd -- ",
		.words_end = "",
		.files = "_files",
		.dirs = "_files -/",
	};

	str_add_text(out,
		"#compdef cloop\n# zsh completion for cloop, made by: cloop completion zsh\n"
		"_cloop()\n{\n"
		"\tlocal cur=${words[CURRENT]} prev=${words[CURRENT-1]} line=(\"${words[@]}\")\n"
		"\tlocal word command=\"\" opts=\"\" i\n"
		"\tlocal next=\"\"\n"
		"\tfor ((i = 2; i < CURRENT; i++)); do\n"
		"\t\tword=${line[i]}\n");
	add_walk(out);
	str_add_text(out, "\tdone\n\tcase \"$command:$prev\" in\n");
	add_value_arms(out, &d);
	str_add_text(out, "\tesac\n\tcase \"$command\" in\n");
	add_command_arms(out);
	str_add_text(out, "\tesac\n"
			  "\tcase \"$cur\" in\n"
			  "\t-*) compadd -- ${=opts} ;;\n"
			  "\t*) if [[ -n $next ]]; then compadd -- ${=next}; else _files; fi ;;\n"
			  "\tesac\n}\n"
			  "if [[ $funcstack[1] = _cloop ]]; then _cloop \"$@\"; else compdef "
			  "_cloop cloop; fi\n");
}

/* fish: text in single quotes. */
static void add_fish_quoted(struct str *out, const char *text)
{
	str_add_char(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			str_add_char(out, '\\');
		str_add_char(out, *text);
	}
	str_add_char(out, '\'');
}

static void add_fish_option(struct str *out, const char *condition, const struct option *o)
{
	bool is_long = o->name[1] == '-';

	str_addf(out, "complete -c cloop%s -%c %s", condition, is_long ? 'l' : 's',
		o->name + (is_long ? 2 : 1));
	if (o->choices)
		str_addf(out, " -x -a '%s'", o->choices);
	else if (o->value && strcmp(o->value, "DIR") == 0)
		str_add_text(out, " -x -a '(__fish_complete_directories)'");
	else if (o->value)
		str_add_text(out, " -r");
	str_add_text(out, " -d ");
	add_fish_quoted(out, o->help);
	str_add_char(out, '\n');
}

static void fish(struct str *out)
{
	str_add_text(out, "# fish completion for cloop, made by: cloop completion fish\n");
	for (const struct option *o = verbs_common; o->name; o++)
		add_fish_option(out, "", o);
	foreach_verb(v)
	{
		AUTO(str) condition = STR_INIT(512);
		if (starts_group(v)) {
			str_addf(out, "complete -c cloop -f -n __fish_use_subcommand -a %s -d ",
				(*v)->group);
			add_fish_quoted(out, verbs_group_summary((*v)->group));
			str_add_char(out, '\n');
		}
		if ((*v)->group)
			str_addf(&condition, " -n '__fish_seen_subcommand_from %s'", (*v)->group);
		else
			str_add_text(&condition, " -n __fish_use_subcommand");
		str_addf(out, "complete -c cloop -f%s -a %s -d ", str_text(&condition), (*v)->name);
		add_fish_quoted(out, (*v)->summary);
		str_add_char(out, '\n');
		str_reset(&condition);
		str_addf(&condition, " -n '__fish_seen_subcommand_from %s'", (*v)->name);
		for (const struct option *o = (*v)->options; o && o->name; o++)
			add_fish_option(out, str_text(&condition), o);
	}
}

static const struct shell {
	const char *name;
	void (*write)(struct str *out);
} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

int completion_script(struct str *out, struct text shell)
{
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
		if (!text_is(shell, shells[i].name))
			continue;
		shells[i].write(out);
		return 0;
	}
	return -1;
}

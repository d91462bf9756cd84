#include "cli/reference/command-page.h"

#include <string.h>

#include "base/strv.h"
#include "cli/help.h"
#include "cli/reference/markdown.h"
#include "cli/verbs.h"

static const char intro[] =
	"\n`cloop COMMAND --help` shows the same. Options are written `--name value` or\n"
	"`--name=value`, in any order, and are never abbreviated; `--` ends them.\n"
	"A failure is `cloop: MESSAGE` and `  fix: REMEDY` on stderr; with `--json` it is one\n"
	"object `{\"error\", \"code\", \"status\", \"remediation\"}` on stdout ([errors.md]"
	"(errors.md)).\n";

static void add_option(struct str *out, const struct option *o)
{
	AUTO(str) text = STR_INIT(256);

	help_option_text(&text, o);
	str_addf(out, "| `%s` | ", str_text(&text));
	markdown_cell(out, o->help);
	if (o->choices)
		str_addf(out, "; one of: %s", o->choices);
	if (o->repeat)
		str_add_text(out, "; may be repeated");
	str_add_text(out, " |\n");
}

static void add_common(struct str *out)
{
	str_add_text(out, "\n## Options of most commands\n\n| option | meaning |\n|---|---|\n");
	verbs_foreach_option(o, NULL) if (strcmp(o->name, "-h") != 0) add_option(out, o);
}

/* Of the options that most commands take, those that this one does. */
static void add_taken(struct str *out, const struct verb *v)
{
	const char *separator = "\nAlso takes ";

	for (const struct option *o = verbs_common; o->name; o++) {
		if (!(v->flags & verbs_common_flag(o)))
			continue;
		str_addf(out, "%s`%s`", separator, o->name);
		separator = ", ";
	}
	if (separator[0] == ',')
		str_add_text(out, ".\n");
}

static void add_verb(struct str *out, const struct verb *v)
{
	AUTO(str) name = STR_INIT(64);
	AUTO(strv) words = STRV_INIT(1024);

	verbs_write_name(&name, v, ' ');
	str_addf(out, "\n## cloop %s\n\n", str_text(&name));
	markdown_cell(out, v->summary);
	str_add_text(out, ".\n\n```\n");
	help_usage_words(v, &words);
	strv_foreach (word, &words)
		str_addf(out, "%s%s", word == words.v ? "" : " ", *word);
	str_add_text(out, "\n```\n");
	markdown_paragraphs(out, v->help);
	if (v->options) {
		str_add_text(out, "\n| option | meaning |\n|---|---|\n");
		for (const struct option *o = v->options; o->name; o++)
			add_option(out, o);
	}
	add_taken(out, v);
	str_add_text(out, "\nExit status: ");
	markdown_cell(out, help_exit_status(v));
	str_add_text(out, ".\n");
}

void command_page(struct str *out)
{
	markdown_title(out, "Commands");
	str_add_text(out, intro);
	add_common(out);
	for (const struct verb *const *v = verbs; *v; v++)
		if (!((*v)->flags & VERB_HIDDEN))
			add_verb(out, *v);
}

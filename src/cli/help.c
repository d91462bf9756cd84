#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/verbs.h"

enum { WIDTH = 80, TEXT_MAX = 64 << 10, WORDS_MAX = 1024, SUMMARY_AT = 22, OPTION_AT = 26 };

/* Where the last line of out begins to be filled. */
static size_t column(const struct str *out)
{
	size_t n = 0;

	while (n < out->len && out->data[out->len - 1 - n] != '\n')
		n++;
	return n;
}

static void pad(struct str *out, size_t to)
{
	for (size_t at = column(out); at < to; at++)
		str_add_char(out, ' ');
}

/* Adds a word behind a blank, or on a new line at `indent` when it would pass the width. */
static void add_word(struct str *out, struct text word, size_t indent)
{
	if (column(out) > indent && column(out) + 1 + word.len > WIDTH)
		str_add_char(out, '\n');
	if (column(out) < indent)
		pad(out, indent);
	else if (column(out) > 0 && out->data[out->len - 1] != ' ')
		str_add_char(out, ' ');
	str_add(out, word.p, word.len);
}

static void add_wrapped(struct str *out, struct text line, size_t indent)
{
	struct text word;

	while (text_split(&line, ' ', &word))
		if (word.len > 0)
			add_word(out, word, indent);
	str_add_char(out, '\n');
}

/* Paragraphs of the table: one per line; two leading blanks = as it is. */
static void add_paragraphs(struct str *out, const char *text)
{
	struct text rest = text_of(text), line;
	bool verbatim = false;

	while (text && text_split(&rest, '\n', &line)) {
		bool now = text_starts(line, "  ");
		if (!now || !verbatim)
			str_add_char(out, '\n');
		verbatim = now;
		if (!now) {
			add_wrapped(out, line, 0);
			continue;
		}
		str_add(out, line.p, line.len);
		str_add_char(out, '\n');
	}
}

void help_option_text(struct str *out, const struct option *o)
{
	str_add_text(out, o->name);
	if (o->value)
		str_addf(out, " %s", o->value);
}

static void add_options(struct str *out, const struct verb *v)
{
	verbs_foreach_option(o, v)
	{
		if (strcmp(o->name, "-h") == 0)
			continue;
		str_add_text(out, "  ");
		if (strcmp(o->name, "--help") == 0)
			str_add_text(out, "-h, ");
		help_option_text(out, o);
		if (column(out) + 2 > OPTION_AT)
			str_add_char(out, '\n');
		pad(out, OPTION_AT);
		add_wrapped(out, text_of(o->help), OPTION_AT);
		if (!o->choices)
			continue;
		pad(out, OPTION_AT);
		auto_free char *choices = mem_printf("(one of: %s)", o->choices);
		add_wrapped(out, text_of(choices), OPTION_AT);
	}
}

void help_usage_words(const struct verb *v, struct strv *ret)
{
	AUTO(str) name = STR_INIT(64);

	verbs_write_name(&name, v, ' ');
	strv_addf(ret, "cloop %s", str_text(&name));
	for (const struct option *o = v->options; o && o->name; o++) {
		AUTO(str) text = STR_INIT(256);
		help_option_text(&text, o);
		strv_addf(ret, "[%s]%s", str_text(&text), o->repeat ? "..." : "");
	}
	if (v->args)
		strv_add(ret, v->args);
	if (v->flags & VERB_ARGV)
		strv_add(ret, "[-- ARGV...]");
}

const char *help_exit_status(const struct verb *v)
{
	return v->exits ? v->exits : "0 done; 1 refused or failed; 2 wrong usage";
}

void help_verb(struct str *out, const struct verb *v)
{
	AUTO(strv) words = STRV_INIT(WORDS_MAX);

	str_add_text(out, "usage: ");
	help_usage_words(v, &words);
	size_t indent = 7;
	strv_foreach (word, &words) {
		add_word(out, text_of(*word), indent);
		indent = 15;
	}
	str_add_text(out, "\n\n");
	add_wrapped(out, text_of(v->summary), 0);
	add_paragraphs(out, v->help);
	str_add_text(out, "\noptions:\n");
	add_options(out, v);
}

static void add_summary(struct str *out, const char *name, const char *summary)
{
	str_addf(out, "  %s", name);
	if (column(out) + 2 > SUMMARY_AT)
		str_add_char(out, '\n');
	pad(out, SUMMARY_AT);
	add_wrapped(out, text_of(summary), SUMMARY_AT);
}

static void add_verbs(struct str *out, const char *group)
{
	for (const struct verb *const *v = verbs; *v; v++) {
		AUTO(str) name = STR_INIT(64);
		if ((*v)->flags & VERB_HIDDEN || !(*v)->group != !group)
			continue;
		if (group && strcmp(group, (*v)->group) != 0)
			continue;
		verbs_write_name(&name, *v, ' ');
		add_summary(out, str_text(&name), (*v)->summary);
	}
}

void help_group(struct str *out, const char *group)
{
	str_addf(out, "usage: cloop %s COMMAND ...\n\n%s:\n", group, verbs_group_summary(group));
	add_verbs(out, group);
	str_addf(out, "\ncloop help %s COMMAND shows the options of one.\n", group);
}

void help_overview(struct str *out)
{
	const char *last = "";

	str_add_text(out,
		"usage: cloop COMMAND ...\n\n"
		"Runs untrusted work in sandboxes that a repository describes\n"
		"(.cloop/sandbox.yaml) and an operator bounds (config.yaml).\n\ncommands:\n");
	add_verbs(out, NULL);
	for (const struct verb *const *v = verbs; *v; v++) {
		if (!(*v)->group || strcmp(last, (*v)->group) == 0)
			continue;
		last = (*v)->group;
		str_addf(out, "\n%s:\n", verbs_group_summary(last));
		add_verbs(out, last);
	}
	str_add_text(out, "\nmost commands take:\n");
	add_options(out, NULL);
	str_add_text(out, "\ncloop help COMMAND shows more about one.\n");
}

int help_show(const char *group, const struct verb *v, struct error *err)
{
	AUTO(str) out = STR_INIT(TEXT_MAX);

	(void)err;
	if (v)
		help_verb(&out, v);
	else if (group)
		help_group(&out, group);
	else
		help_overview(&out);
	fputs(str_text(&out), stdout);
	return 0;
}

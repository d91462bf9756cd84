#include "cli/man.h"

#include <inttypes.h>
#include <string.h>

#include "base/strv.h"
#include "cli/help.h"
#include "cli/verbs.h"
#include "schema/key-docs.h"

/*
 * Text as roff: backslashes, dashes, what is not ASCII, and dots and quotes at the start of a line
 * are escaped.
 */
static void add_text(struct str *out, struct text t)
{
	while (t.len > 0) {
		bool first = out->len == 0 || out->data[out->len - 1] == '\n';
		uint32_t c = (unsigned char)t.p[0];
		size_t n = utf8_next(t, &c);
		if (first && (c == '.' || c == '\''))
			str_add_text(out, "\\&");
		if (n > 1)
			str_addf(out, "\\[u%04" PRIX32 "]", c);
		else if (c == '\\')
			str_add_text(out, "\\e");
		else if (c == '-')
			str_add_text(out, "\\-");
		else
			str_add_char(out, t.p[0]);
		t = text_after(t, n > 0 ? n : 1);
	}
}

static void add_string(struct str *out, const char *s)
{
	add_text(out, text_of(s));
}

/* A value without blanks that may be wider than a page: it can go on in the next line behind a /.
 */
static void add_value(struct str *out, const char *s)
{
	struct text rest = text_of(s), part;

	while (text_split(&rest, '/', &part)) {
		add_text(out, part);
		str_add_text(out, rest.p ? "/\\:" : "");
	}
}

static void add_paragraphs(struct str *out, const char *text)
{
	struct text rest = text_of(text), line;
	bool verbatim = false, first = true;

	while (text && text_split(&rest, '\n', &line)) {
		bool now = text_starts(line, "  ");
		if (verbatim && !now)
			str_add_text(out, ".fi\n");
		if (!first && !(verbatim && now))
			str_add_text(out, ".PP\n");
		if (now && !verbatim)
			str_add_text(out, ".nf\n");
		verbatim = now;
		first = false;
		add_text(out, line);
		str_add_char(out, '\n');
	}
	if (verbatim)
		str_add_text(out, ".fi\n");
}

static void add_options(struct str *out, const struct verb *v)
{
	verbs_foreach_option(o, v)
	{
		if (strcmp(o->name, "-h") == 0)
			continue;
		AUTO(str) text = STR_INIT(256);
		if (strcmp(o->name, "--help") == 0)
			str_add_text(&text, "-h, ");
		help_option_text(&text, o);
		str_add_text(out, ".TP\n.B ");
		add_string(out, str_text(&text));
		str_add_char(out, '\n');
		add_string(out, o->help);
		if (o->choices) {
			str_add_text(out, "; one of: ");
			add_string(out, o->choices);
		}
		str_add_char(out, '\n');
	}
}

static void add_title(struct str *out, const char *name, char section, const char *summary)
{
	str_add_text(out, ".TH ");
	add_string(out, name);
	str_addf(out,
		" %c \"" CLOOP_RELEASED "\" \"cloop " CLOOP_VERSION
		"\" \"cloop\"\n.ad l\n.nh\n.SH NAME\n",
		section);
	add_string(out, name);
	str_add_text(out, " \\- ");
	add_string(out, summary);
	str_add_char(out, '\n');
}

void man_verb(struct str *out, const struct verb *v)
{
	AUTO(str) name = STR_INIT(64);
	AUTO(strv) words = STRV_INIT(256);

	str_add_text(&name, "cloop-");
	verbs_write_name(&name, v, '-');
	add_title(out, str_text(&name), '1', v->summary);
	str_add_text(out, ".SH SYNOPSIS\n");
	help_usage_words(v, &words);
	strv_foreach (word, &words) {
		add_string(out, *word);
		str_add_char(out, '\n');
	}
	if (v->help) {
		str_add_text(out, ".SH DESCRIPTION\n");
		add_paragraphs(out, v->help);
	}
	str_add_text(out, ".SH OPTIONS\n");
	add_options(out, v);
	str_add_text(out, ".SH EXIT STATUS\n");
	add_string(out, help_exit_status(v));
	str_add_text(out, "\n.SH SEE ALSO\n.BR cloop (1)\n");
}

/* Every command has a page; the two files and the library, too. */
static void add_see_also(struct str *out)
{
	str_add_text(out, ".SH SEE ALSO\n");
	for (const struct verb *const *v = verbs; *v; v++) {
		AUTO(str) name = STR_INIT(64);
		if ((*v)->flags & VERB_HIDDEN)
			continue;
		verbs_write_name(&name, *v, '-');
		str_add_text(out, ".BR cloop\\-");
		add_string(out, str_text(&name));
		str_add_text(out, " (1),\n");
	}
	str_add_text(out, ".BR cloop.yaml (5),\n.BR sandbox.yaml (5),\n.BR libcloop (3)\n");
}

static const char exit_statuses[] =
	"0 done; 1 refused or failed; 2 wrong usage.\n"
	"cloop run in the foreground passes the status of its command on, and exits with 122 "
	"stopped "
	"at its disk limit, 123 revoked, 124 timed out, 125 refused or could not start, 126 or 127 "
	"the command could not be executed or was not found, 128+n ended by signal n.";

void man_overview(struct str *out)
{
	add_title(out, "cloop", '1', "run untrusted work in sandboxes");
	str_add_text(out, ".SH SYNOPSIS\n.B cloop\n.I COMMAND\n.RI [ OPTION .\\|.\\|.] \" \" "
			  "[ ARGUMENT .\\|.\\|.]\n.SH COMMANDS\n");
	for (const struct verb *const *v = verbs; *v; v++) {
		AUTO(str) name = STR_INIT(64);
		if ((*v)->flags & VERB_HIDDEN)
			continue;
		verbs_write_name(&name, *v, ' ');
		str_add_text(out, ".TP\n.B ");
		add_string(out, str_text(&name));
		str_add_char(out, '\n');
		add_string(out, (*v)->summary);
		str_add_char(out, '\n');
	}
	str_add_text(out, ".SH OPTIONS\nMost commands take:\n");
	add_options(out, NULL);
	str_add_text(out, ".SH EXIT STATUS\n");
	add_paragraphs(out, exit_statuses);
	str_add_text(out, ".SH ENVIRONMENT\n"
			  ".TP\n.B CLOOP_HOME\nlike \\-\\-home\n"
			  ".TP\n.B CLOOP_CONFIG\nlike \\-\\-config\n"
			  ".TP\n.B CLOOP_SECRET_KEY\nthe passphrase that seals secrets, instead of "
			  "a key file\n"
			  ".TP\n.B NO_COLOR\nno colour, whatever the terminal can do\n"
			  ".SH FILES\n"
			  ".TP\n.I .cloop/sandbox.yaml\nwhat a project\\(aqs runs need; "
			  "sandbox.yaml(5)\n"
			  ".TP\n.I /etc/cloop/config.yaml, ~/.config/cloop/config.yaml\nwhat the "
			  "operator allows; cloop.yaml(5)\n"
			  ".TP\n.I /var/lib/cloop, ~/.local/state/cloop\ncloop\\(aqs home: runs, "
			  "state.db, keys\n");
	add_see_also(out);
}

static void add_key(struct str *out, const char *path, const struct schema_key *key)
{
	AUTO(str) type = STR_INIT(4096);

	key_docs_type(key, &type);
	str_add_text(out, ".TP\n.B ");
	add_string(out, path);
	str_add_char(out, '\n');
	add_string(out, str_text(&type));
	if (key->fallback && key->fallback[0]) {
		str_add_text(out, "; default ");
		add_value(out, key->fallback);
	}
	for (size_t i = 0; key->fallback_items && key->fallback_items[i]; i++) {
		str_add_text(out, i ? ", " : "; default ");
		add_value(out, key->fallback_items[i]);
	}
	str_add_text(out, ".\n");
	if (key->doc) {
		add_string(out, key->doc);
		str_add_char(out, '\n');
	}
}

static void add_keys(struct str *out, const struct schema *s, const char *prefix)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct schema_key *key = &s->keys[i];
		AUTO(str) path = STR_INIT(1024);
		str_addf(&path, "%s%s%s", prefix, prefix[0] ? "." : "", key->name);
		if (key->type != SCHEMA_SECTION)
			add_key(out, str_text(&path), key);
		if (key->type == SCHEMA_ENTRIES)
			str_add_text(&path, "[]");
		if (key->section)
			add_keys(out, key->section, str_text(&path));
	}
}

void man_file(struct str *out, const struct man_file *f)
{
	add_title(out, f->page, '5', f->summary);
	str_add_text(out, ".SH SYNOPSIS\n");
	add_string(out, f->path);
	str_add_text(out, "\n.SH DESCRIPTION\n");
	add_paragraphs(out, f->text);
	str_add_text(out, ".SH KEYS\n");
	add_keys(out, f->schema, "");
	str_add_text(out, ".SH SEE ALSO\n.BR cloop (1),\n.BR ");
	add_string(out, f->other);
	str_add_text(out, " (5)\n");
}

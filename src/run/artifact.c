#include "run/artifact.h"

#include <stdio.h>

enum { SLUG_MAX = 56, FENCE_MIN = 3, LINE_MAX = 4096 };

void artifact_name(int64_t id, struct text title, char out[ARTIFACT_NAME_SIZE])
{
	char slug[SLUG_MAX + 1];
	size_t n = 0;

	for (size_t i = 0; i < title.len && n < SLUG_MAX; i++) {
		if (ascii_alnum(title.p[i]))
			slug[n++] = ascii_to_lower(title.p[i]);
		else if (n > 0 && slug[n - 1] != '-')
			slug[n++] = '-';
	}
	while (n > 0 && slug[n - 1] == '-')
		n--;
	slug[n] = '\0';
	snprintf(out, ARTIFACT_NAME_SIZE, "%lld-%s.md", (long long)id, n > 0 ? slug : "task");
}

/* Characters that a double-quoted YAML scalar may hold as they are, and that only show text. */
static bool plain_in_yaml(uint32_t c)
{
	if (c < 0x80)
		return c >= 0x20 && c != 0x7f && c != '"' && c != '\\';
	return c >= 0xa0 && c != 0x61c && !(c >= 0x200b && c <= 0x200f) &&
	       !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2060 && c <= 0x206f) &&
	       !(c >= 0xfff0 && c <= 0xffff) && c != 0xfeff && c < 0xe0000;
}

/* A byte that is no UTF-8 becomes the text \xNN: YAML's own \xNN would be another character. */
static void add_quoted(struct str *out, struct text t)
{
	str_add_char(out, '"');
	while (t.len > 0) {
		uint32_t c = 0;
		size_t n = utf8_next(t, &c);
		if (n == 0)
			str_addf(out, "\\\\x%02x", (unsigned char)t.p[0]);
		else if (plain_in_yaml(c))
			str_add(out, t.p, n);
		else if (c == '"' || c == '\\')
			str_addf(out, "\\%c", (char)c);
		else if (c < 0x10000)
			str_addf(out, "\\u%04x", c);
		else
			str_addf(out, "\\U%08x", c);
		t = text_after(t, n ? n : 1);
	}
	str_add_char(out, '"');
}

static void add_member(struct str *out, const char *key, struct text value)
{
	str_addf(out, "%s: ", key);
	add_quoted(out, value);
	str_add_char(out, '\n');
}

static void add_front_matter(struct str *out, const struct artifact *a)
{
	const struct store_run *r = a->run;

	str_addf(out, "---\nid: %lld\n", (long long)a->id);
	add_member(out, "title", a->title);
	str_addf(out, "status: %s\n", a->status);
	add_member(out, "executor_id", r->executor_id);
	add_member(out, "executor_kind", r->executor_kind);
	add_member(out, "sandbox_spec_sha256", r->sandbox_sha256);
	add_member(out, "sandbox_image_requested", r->image_requested);
	add_member(out, "sandbox_image", r->image);
	str_addf(out, "sandbox_reproducible: %s\n", r->reproducible ? "true" : "false");
	add_member(out, "sandbox_setup_sha256", r->setup_sha256);
	str_add_text(out, "---\n");
}

static size_t longest_fence(struct text t)
{
	size_t longest = 0, here = 0;

	for (size_t i = 0; i < t.len; i++) {
		here = t.p[i] == '`' ? here + 1 : 0;
		longest = here > longest ? here : longest;
	}
	return longest;
}

static void add_times(struct str *out, char c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_add_char(out, c);
}

/* A block that nothing in it can end; lines and tabs stay, other control characters are shown. */
static void add_block(struct str *out, struct text t)
{
	size_t fence = longest_fence(t) + 1;
	struct text line;

	fence = fence < FENCE_MIN ? FENCE_MIN : fence;
	add_times(out, '`', fence);
	str_add_text(out, "text\n");
	if (text_ends(t, "\n"))
		t.len--;
	while (text_split(&t, '\n', &line)) {
		struct text part;
		bool first = true;
		while (text_split(&line, '\t', &part)) {
			if (!first)
				str_add_char(out, '\t');
			first = false;
			text_escape(out, part, part.len);
		}
		str_add_char(out, '\n');
	}
	add_times(out, '`', fence);
	str_add_char(out, '\n');
}

static void add_line(struct str *out, const char *what, struct text value)
{
	if (value.len == 0)
		return;
	str_addf(out, "%s: ", what);
	text_escape(out, value, LINE_MAX);
	str_add_char(out, '\n');
}

static void add_end(struct str *out, const struct artifact *a)
{
	const struct store_run *r = a->run;
	AUTO(str) facts = STR_INIT(ARTIFACT_MAX / 4);

	if (a->argv->n > 0) {
		str_add_text(&facts, "command:");
		strv_foreach (arg, a->argv) {
			str_add_char(&facts, ' ');
			text_quote(&facts, text_of(*arg), LINE_MAX);
		}
		str_add_char(&facts, '\n');
	}
	add_line(&facts, "run", r->handle);
	add_line(&facts, "outcome", r->outcome);
	if (r->exit_code >= 0)
		str_addf(&facts, "exit code: %d\n", (int)r->exit_code);
	if (r->signal > 0)
		str_addf(&facts, "signal: %d\n", (int)r->signal);
	add_line(&facts, "note", a->note);
	add_line(&facts, "started", r->started_at);
	add_line(&facts, "finished", r->finished_at);
	str_add_text(out, "\n## Run\n\n");
	add_block(out, (struct text){str_text(&facts), facts.len});
}

void artifact_write(const struct artifact *a, struct str *out)
{
	add_front_matter(out, a);
	add_end(out, a);
	str_add_text(out, "\n## Output\n\n");
	if (a->output_cut)
		str_addf(out, "The last of it; `cloop logs %.*s` shows all that is kept.\n\n",
			(int)a->run->handle.len, a->run->handle.p);
	if (a->output.len > 0)
		add_block(out, a->output);
	else
		str_add_text(out, "None.\n");
}

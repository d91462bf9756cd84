#include "vault/subject.h"

#include "base/mem.h"
#include "base/str.h"

enum { ID_MAX = 64, LABEL_KEY_MAX = 63, LABEL_VALUE_MAX = 63 };

void subject_done(struct subject *s)
{
	free(s->text);
	*s = (struct subject){.text = NULL};
}

static bool id_valid(struct text t)
{
	return t.len >= 1 && t.len <= ID_MAX && ascii_alnum(t.p[0]) && text_all_word(t, "._-");
}

static bool label_key_valid(struct text t)
{
	bool ends = t.len >= 1 && t.len <= LABEL_KEY_MAX && text_all_word(t, "._/-") &&
		    ascii_alnum(t.p[0]) && ascii_alnum(t.p[t.len - 1]);

	for (size_t i = 0; ends && i < t.len; i++)
		ends = !ascii_upper(t.p[i]);
	return ends;
}

/* Adds the path to out without empty and `.` components; false for one that is refused. */
static bool clean_path(struct text path, struct str *out)
{
	struct text part;
	size_t before = out->len;

	if (!text_starts(path, "/") || text_has_control(path))
		return false;
	while (text_split(&path, '/', &part)) {
		if (text_is(part, ".."))
			return false;
		if (part.len == 0 || text_is(part, "."))
			continue;
		str_add_char(out, '/');
		str_add(out, part.p, part.len);
	}
	if (out->len == before)
		str_add_char(out, '/');
	return true;
}

/* Reads k=v[,k=v]… into s, whose labels are views into t. */
static bool read_labels(struct text t, struct subject *s)
{
	struct text pair;

	while (text_split(&t, ',', &pair)) {
		struct text value = pair, key;
		text_split(&value, '=', &key);
		if (s->n_labels == SUBJECT_LABELS_MAX || !value.p || !label_key_valid(key) ||
			value.len > LABEL_VALUE_MAX || !text_all_word(value, "._-"))
			return false;
		for (size_t i = 0; i < s->n_labels; i++)
			if (text_equal(s->labels[i].key, key))
				return false;
		s->labels[s->n_labels++] = (struct subject_label){key, value};
	}
	return true;
}

static bool read_project(struct text t, struct subject *s)
{
	AUTO(str) out = STR_INIT(t.len + 16);

	if (text_is(t, "project:*")) {
		s->kind = SUBJECT_PROJECT_ANY;
		s->text = mem_strndup(t.p, t.len);
		return true;
	}
	str_add_text(&out, "project:");
	if (!clean_path(text_after(t, strlen("project:")), &out))
		return false;
	s->kind = SUBJECT_PROJECT;
	s->id = text_of(out.data + strlen("project:"));
	s->text = str_take(&out);
	return true;
}

/* The kinds whose normal form is what was written. */
static bool read_verbatim(struct text t, struct subject *s)
{
	s->text = mem_strndup(t.p ? t.p : "", t.len);
	struct text own = {s->text, t.len};
	s->kind = text_is(own, "any")             ? SUBJECT_ANY
		  : text_is(own, "executor:*")    ? SUBJECT_EXECUTOR_ANY
		  : text_starts(own, "executor:") ? SUBJECT_EXECUTOR
						  : SUBJECT_LABEL;
	if (s->kind == SUBJECT_EXECUTOR) {
		s->id = text_after(own, strlen("executor:"));
		return id_valid(s->id);
	}
	if (s->kind == SUBJECT_LABEL)
		return text_starts(own, "label:") &&
		       read_labels(text_after(own, strlen("label:")), s);
	return true;
}

int subject_parse(struct text t, struct subject *ret, struct error *err)
{
	AUTO(subject) s = {.text = NULL};

	if (!(text_starts(t, "project:") ? read_project(t, &s) : read_verbatim(t, &s)))
		return error_set(
			err, ERROR_GRANT_SUBJECT_INVALID, "%s is no subject of a grant", quoted(t));
	*ret = s;
	s.text = NULL;
	return 0;
}

static bool has_label(const struct subject_who *who, const struct subject_label *l)
{
	for (size_t i = 0; i < who->n_labels; i++)
		if (text_equal(who->labels[i].key, l->key))
			return text_equal(who->labels[i].value, l->value);
	return false;
}

static bool has_labels(const struct subject_who *who, const struct subject *s)
{
	for (size_t i = 0; i < s->n_labels; i++)
		if (!has_label(who, &s->labels[i]))
			return false;
	return true;
}

bool subject_matches(const struct subject *s, const struct subject_who *who)
{
	switch (s->kind) {
	case SUBJECT_ANY:
		return true;
	case SUBJECT_PROJECT:
		return who->project.p && text_equal(s->id, who->project);
	case SUBJECT_PROJECT_ANY:
		return who->project.p != NULL;
	case SUBJECT_EXECUTOR:
		return who->executor.p && text_equal(s->id, who->executor);
	case SUBJECT_EXECUTOR_ANY:
		return who->executor.p != NULL;
	case SUBJECT_LABEL:
		return has_labels(who, s);
	}
	return false;
}

bool subject_is_wide(const struct subject *s)
{
	return s->kind == SUBJECT_ANY || s->kind == SUBJECT_PROJECT_ANY ||
	       s->kind == SUBJECT_EXECUTOR_ANY;
}

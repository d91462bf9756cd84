#include "image/harness.h"

#include "base/enum-text.h"
#include "base/json.h"
#include "base/mem.h"

static const char *const result_names[] = {
	[HARNESS_ABSENT] = "absent",
	[HARNESS_OK] = "ok",
	[HARNESS_LACKS] = "lacks",
};
static_assert(ARRAY_SIZE(result_names) == HARNESS_RESULT_COUNT, "a name for every result");

const char *harness_result_text(enum harness_result r)
{
	return result_names[r];
}

static bool is_separator(char c)
{
	return c == ',' || ascii_blank(c);
}

/* The next word, which may be empty; false at the end. */
static bool take_word(struct text *rest, struct text *ret)
{
	size_t n = 0;

	if (rest->len == 0)
		return false;
	while (n < rest->len && !is_separator(rest->p[n]))
		n++;
	*ret = (struct text){rest->p, n};
	*rest = text_after(*rest, n < rest->len ? n + 1 : n);
	return true;
}

static bool is_name(struct text word)
{
	return word.len >= 1 && word.len <= HARNESS_NAME_MAX && text_all_word(word, "._-");
}

static void read_names(struct text label, struct strv *names)
{
	struct text word;

	while (names->n < names->max && take_word(&label, &word)) {
		if (!is_name(word))
			continue;
		auto_free char *name = mem_strndup(word.p, word.len);
		if (!strv_has(names, name))
			(void)!strv_take(names, TAKE_PTR(name));
	}
}

enum harness_result harness_judge(struct text label, const char *wanted, struct strv *ret_names)
{
	if (label.p && label.len <= HARNESS_LABEL_MAX)
		read_names(label, ret_names);
	if (ret_names->n == 0)
		return HARNESS_ABSENT;
	return !*wanted || strv_has(ret_names, wanted) ? HARNESS_OK : HARNESS_LACKS;
}

const char *harness_published(const char *wanted)
{
	static const struct {
		const char *program, *image;
	} rows[] = {
		{"claude", "ghcr.io/blechschmidt/cloop-harness"},
		{"copilot", "ghcr.io/blechschmidt/cloop-harness-copilot"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(wanted, rows[i].program) == 0)
			return rows[i].image;
	return NULL;
}

int harness_lacks(
	const char *image, const char *wanted, const struct strv *names, struct error *err)
{
	const char *published = harness_published(wanted);
	auto_free char *carries = strv_join(names, ", ");

	error_set(err, ERROR_SANDBOX_IMAGE_LACKS_HARNESS,
		"the image %s carries %s, and not %s which the project needs", quoted_string(image),
		carries, wanted);
	if (published)
		error_set_remedy(err, "use an image that carries %s, such as the published %s",
			wanted, published);
	else
		error_set_remedy(err, "use an image that carries %s", wanted);
	error_add_detail(err, "image", json_from_string(image));
	return error_add_detail(err, "carries", json_from_strings(names->v, names->n));
}

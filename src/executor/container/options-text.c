/* Rows of one text, and of a list of text. */
#include "executor/container/options-row.h"

#include "base/mem.h"

OPTIONS_READ(options_text_read)
{
	struct text t = json_text(value);

	(void)normal;
	if (!json_is_string(value))
		return options_wrong_type(row, "text", err);
	/* No rule accepts a NUL, which the C string would hide. */
	if (text_has_byte(t, '\0') && row->rule(t, err) < 0)
		return -1;
	mem_set_string(options_field(row, raw), t.p);
	return 0;
}

/* The text of a row, or its default. */
static struct text text_given(const struct options_row *row, const struct container_options *in)
{
	const char *given = *(char *const *)options_const_field(row, in);

	if (!given || (row->blank_is_absent && text_blank(text_of(given))))
		return text_of(row->absent);
	return text_of(given);
}

static int keep(const struct options_row *row, struct text t, struct container_options *out,
	struct error *err)
{
	char **field = options_field(row, out);

	if (row->rule(t, err) < 0)
		return -1;
	free(*field);
	*field = mem_strndup(t.p, t.len);
	return 0;
}

OPTIONS_CHECK(options_text_check)
{
	return keep(row, text_given(row, in), out, err);
}

OPTIONS_CHECK(options_text_check_trimmed)
{
	return keep(row, text_trim(text_given(row, in)), out, err);
}

OPTIONS_READ(options_text_read_list)
{
	struct strv *list = options_field(row, raw);
	size_t n = json_array_size(value);

	if (!json_is_array(value))
		return options_wrong_type(row, "a list of text", err);
	auto_free struct text *v = mem_alloc(n * sizeof(*v));
	for (size_t i = 0; i < n; i++) {
		const json_t *item = json_array_get(value, i);
		if (!json_is_string(item))
			return options_wrong_type(row, "a list of text", err);
		v[i] = json_text(item);
	}
	if (row->list_rule(v, n, normal, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (strv_add(list, v[i].p) < 0)
			return options_wrong_type(row, "a shorter list", err);
	return 0;
}

OPTIONS_CHECK(options_text_check_list)
{
	const struct strv *list = options_const_field(row, in);
	auto_free struct text *v = mem_alloc(list->n * sizeof(*v));

	for (size_t i = 0; i < list->n; i++)
		v[i] = text_of(list->v[i]);
	if (row->list_rule(v, list->n, out, err) < 0)
		return -1;
	if (strv_add_all(options_field(row, out), list) < 0)
		return options_wrong_type(row, "a shorter list", err);
	return 0;
}

/* Names that are made from text of others (container-driver.md §5.9): always valid. */
#include "executor/container/validate.h"

enum {
	SEGMENT_MAX = 64,
	VALUE_MAX = 256,
	SLUG_MAX = 32,
	CONTAINER_NAME_MAX = 63,
};

void label_segment(struct str *out, struct text key)
{
	if (key.len == 0)
		str_add_text(out, "unnamed");
	for (size_t i = 0; i < key.len && i < SEGMENT_MAX; i++)
		str_add_char(out, ascii_word(key.p[i], "._-") ? key.p[i] : '_');
}

void label_value(struct str *out, struct text value)
{
	AUTO(str) clean = STR_INIT(VALUE_MAX + 4);

	while (value.len > 0 && clean.len <= VALUE_MAX) {
		uint32_t c = 0;
		size_t n = utf8_next(value, &c);
		if (n == 0 || ascii_control((char)value.p[0]))
			str_add_char(&clean, '_');
		else
			str_add(&clean, value.p, n);
		value = text_after(value, n ? n : 1);
	}
	str_add(out, str_text(&clean),
		utf8_cut((struct text){str_text(&clean), clean.len}, VALUE_MAX));
}

static struct text last_component(struct text path)
{
	while (path.len > 0 && path.p[path.len - 1] == '/')
		path.len--;
	const char *slash = path.len ? memrchr(path.p, '/', path.len) : NULL;
	return slash ? text_after(path, (size_t)(slash + 1 - path.p)) : path;
}

static void slug(struct text t, char out[SLUG_MAX + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < t.len && n < SLUG_MAX; i++) {
		char c = ascii_to_lower(t.p[i]);
		if (ascii_alnum(c))
			out[n++] = c;
		else if (n > 0 && out[n - 1] != '-')
			out[n++] = '-';
	}
	if (n > 0 && out[n - 1] == '-')
		n--;
	out[n] = '\0';
}

void container_name(struct text work_dir, struct text run_id, char out[64])
{
	char project[SLUG_MAX + 1], id[CONTAINER_NAME_MAX + 1];
	size_t n = 0;

	slug(last_component(work_dir), project);
	if (text_starts(run_id, "c-"))
		run_id = text_after(run_id, 2);
	for (size_t i = 0; i < run_id.len && n < CONTAINER_NAME_MAX; i++)
		if (ascii_alnum(run_id.p[i]))
			id[n++] = ascii_to_lower(run_id.p[i]);
	id[n] = '\0';
	AUTO(str) name = STR_INIT(256);
	str_addf(&name, "cloop-%s-%s", *project ? project : "project", n ? id : "run");
	size_t length = name.len < CONTAINER_NAME_MAX ? name.len : CONTAINER_NAME_MAX;
	memcpy(out, str_text(&name), length);
	out[length] = '\0';
}

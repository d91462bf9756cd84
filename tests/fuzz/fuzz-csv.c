/*
 * Mount texts read back by the rules of Go's encoding/csv, which both engines use: parse(render(x))
 * = x (container-driver.md §7.1). Input: NUL-separated source and target, first byte = flags.
 */
#include <assert.h>
#include <stdint.h>

#include "executor/container/mounts.h"

enum { BYTES_MAX = 1 << 20 };

/* The line that Go's reader sees: CR LF at its end becomes LF, a CR at the very end is dropped. */
static bool next_line(struct text *rest, struct str *line)
{
	struct text part;

	str_reset(line);
	if (rest->len == 0 || !rest->p)
		return false;
	text_split(rest, '\n', &part);
	bool ended = rest->p != NULL;
	if (part.len && part.p[part.len - 1] == '\r')
		part.len--;
	str_add(line, part.p, part.len);
	if (ended)
		str_add_char(line, '\n');
	return true;
}

/* A quoted field from behind its opening quote; what is left of the line in *at. */
static void quoted_field(struct text *rest, struct str *line, struct text *at, struct str *field)
{
	for (;;) {
		const char *quote = at->len ? memchr(at->p, '"', at->len) : NULL;
		if (!quote) {
			str_add(field, at->p, at->len);
			assert(next_line(rest, line));
			*at = (struct text){str_text(line), line->len};
			continue;
		}
		str_add(field, at->p, (size_t)(quote - at->p));
		*at = text_after(*at, (size_t)(quote - at->p) + 1);
		if (!text_starts(*at, "\""))
			return;
		str_add_char(field, '"');
		*at = text_after(*at, 1);
	}
}

static void plain_field(struct text *at, struct str *field)
{
	while (at->len && at->p[0] != ',' && at->p[0] != '\n') {
		assert(at->p[0] != '"');
		str_add_char(field, at->p[0]);
		*at = text_after(*at, 1);
	}
}

static void expect_field(struct strv *fields, size_t i, const char *key, struct text value)
{
	assert(fields->n > i);
	struct text field = text_of(fields->v[i]);
	assert(text_starts(field, key));
	assert(text_equal(text_after(field, strlen(key)), value));
}

static void parse(struct text csv, struct strv *fields)
{
	AUTO(str) line = STR_INIT(BYTES_MAX);

	assert(next_line(&csv, &line));
	struct text at = {str_text(&line), line.len};
	for (;;) {
		AUTO(str) field = STR_INIT(BYTES_MAX);
		if (text_starts(at, "\"")) {
			at = text_after(at, 1);
			quoted_field(&csv, &line, &at, &field);
		} else {
			plain_field(&at, &field);
		}
		strv_add(fields, str_text(&field));
		if (!text_starts(at, ","))
			break;
		at = text_after(at, 1);
	}
	assert(at.len == 0 && csv.len == 0);
}

static void check_mount(const struct mount_text *m, struct text word)
{
	AUTO(strv) fields = STRV_INIT(16);

	assert(text_starts(word, "--mount="));
	parse(text_after(word, strlen("--mount=")), &fields);
	expect_field(&fields, 0, "type=bind", TEXT(""));
	expect_field(&fields, 1, "source=", m->source);
	expect_field(&fields, 2, "target=", m->target);
	assert(fields.n == 3u + (m->read_only ? 1 : 0) + (m->label ? 1 : 0));
	if (m->read_only)
		expect_field(&fields, 3, "readonly", TEXT(""));
	if (m->label)
		expect_field(&fields, fields.n - 1, "relabel=",
			m->label == MOUNT_LABEL_SHARED ? TEXT("shared") : TEXT("private"));
}

static void check_volume(const struct mount_text *m, struct text word)
{
	struct text part;

	assert(text_starts(word, "--volume="));
	word = text_after(word, strlen("--volume="));
	assert(text_split(&word, ':', &part) && text_equal(part, m->source));
	assert(text_split(&word, ':', &part) && text_equal(part, m->target));
	const char want[] = {(char)m->label, '\0'};
	assert(text_starts(word, m->read_only ? "ro," : want) && text_ends(word, want));
	assert(!text_has_byte(word, ':'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum mount_label labels[] = {
		MOUNT_LABEL_NONE, MOUNT_LABEL_SHARED, MOUNT_LABEL_PRIVATE, MOUNT_LABEL_NONE};
	auto_error struct error err = ERROR_INIT;
	AUTO(str) word = STR_INIT(BYTES_MAX);

	if (size < 2)
		return 0;
	struct text rest = {(const char *)data + 1, size - 1};
	struct mount_text m = {.read_only = data[0] & 1, .label = labels[data[0] >> 1 & 3]};
	enum engine engine = data[0] & 8 ? ENGINE_DOCKER : ENGINE_PODMAN;
	text_split(&rest, '\0', &m.source);
	m.target = rest.p ? rest : TEXT("/t");
	if (mount_render(engine, &m, &word, &err) < 0) {
		assert(error_is(&err, ERROR_PATH_UNSUPPORTED));
		return 0;
	}
	struct text rendered = {str_text(&word), word.len};
	if (engine == ENGINE_DOCKER && m.label)
		check_volume(&m, rendered);
	else
		check_mount(&m, rendered);
	return 0;
}

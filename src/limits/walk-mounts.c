#include "limits/walk-mounts.h"

#include "base/mem.h"
#include "base/path.h"

enum { TARGET_FIELD = 4, ESCAPE = 4 };

static const struct {
	char digits[ESCAPE];
	char byte;
} escapes[] = {{"040", ' '}, {"011", '\t'}, {"012", '\n'}, {"134", '\\'}};

/* The byte that an escape at p stands for; -1: it is none. */
static int escaped(struct text at)
{
	for (size_t i = 0; i < ARRAY_SIZE(escapes); i++)
		if (at.len >= ESCAPE && at.p[0] == '\\' &&
			memcmp(at.p + 1, escapes[i].digits, ESCAPE - 1) == 0)
			return escapes[i].byte;
	return -1;
}

char *walk_mounts_unescape(struct text field)
{
	AUTO(str) out = STR_INIT(field.len);

	while (field.len > 0) {
		int byte = escaped(field);
		str_add_char(&out, byte < 0 ? field.p[0] : (char)byte);
		field = text_after(field, byte < 0 ? 1 : ESCAPE);
	}
	return str_take(&out);
}

/* An absolute path without empty and `.` components and a slash at its end; `..` takes one off. */
static char *clean(struct text path)
{
	AUTO(str) out = STR_INIT(path.len + 1);
	struct text part;

	while (text_split(&path, '/', &part)) {
		if (text_is(part, "..")) {
			while (out.len > 0 && out.data[--out.len] != '/')
				;
			continue;
		}
		if (part.len == 0 || text_is(part, "."))
			continue;
		str_add_char(&out, '/');
		str_add(&out, part.p, part.len);
	}
	return out.len > 0 ? mem_strndup(out.data, out.len) : mem_strdup("/");
}

static bool target_of(struct text line, struct text *ret)
{
	for (size_t i = 0; i <= TARGET_FIELD; i++)
		if (!text_split(&line, ' ', ret))
			return false;
	return ret->len > 0;
}

int walk_mounts_below(struct text mountinfo, struct text root, struct strv *ret)
{
	auto_free char *top = clean(root);
	struct text line, field;

	while (text_split(&mountinfo, '\n', &line)) {
		if (!target_of(line, &field))
			continue;
		auto_free char *bytes = walk_mounts_unescape(field);
		auto_free char *target = clean(text_of(bytes));
		if (strcmp(target, top) == 0 || !path_at_or_below(text_of(target), text_of(top)))
			continue;
		if (!strv_has(ret, target) && strv_add(ret, target) < 0)
			return -1;
	}
	strv_sort(ret);
	return 0;
}

/*
 * jansson copies what it reads several times (its lexer, its strings), and frees the copies as they
 * are. So while such JSON is read or freed, its allocator is one that wipes. malloc stays the
 * source on both sides, so that values may be freed under either. There are no threads that could
 * meet it.
 */
#include "base/json-secret.h"

#include <stdlib.h>
#include <string.h>

#include "base/wipe.h"

struct allocator {
	json_malloc_t malloc;
	json_free_t free;
};

static struct allocator begin_wiping(void)
{
	struct allocator usual;

	json_get_alloc_funcs(&usual.malloc, &usual.free);
	json_set_alloc_funcs(malloc, wipe_free);
	return usual;
}

static void end_wiping(struct allocator usual)
{
	json_set_alloc_funcs(usual.malloc, usual.free);
}

json_t *json_secret_read(
	struct text bytes, size_t max, const char *what, enum error_code code, struct error *err)
{
	json_error_t where;

	if (bytes.len > max) {
		error_set(err, code, "%s is larger than %zu bytes", what, max);
		return NULL;
	}
	struct allocator usual = begin_wiping();
	json_t *value = json_loadb(bytes.p ? bytes.p : "", bytes.len,
		JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &where);
	end_wiping(usual);
	explicit_bzero(where.text, sizeof(where.text));
	if (!value)
		error_set(err, code, "%s is not JSON: line %d", what, where.line);
	return value;
}

void json_secret_write(const json_t *value, struct secret *ret)
{
	size_t flags = JSON_COMPACT | JSON_ENCODE_ANY;
	struct allocator usual = begin_wiping();
	struct secret text;

	secret_make(json_dumpb(value, NULL, 0, flags), &text);
	json_dumpb(value, text.p, text.len, flags);
	end_wiping(usual);
	*ret = text;
}

void json_secret_free(json_t *value)
{
	struct allocator usual = begin_wiping();

	json_decref(value);
	end_wiping(usual);
}

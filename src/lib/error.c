#include "lib/error.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

struct error *lib_error_begin(struct cloop_error *err, struct error *unseen)
{
	struct error *inner = err ? &err->inner : unseen;

	error_clear(inner);
	return inner;
}

bool lib_missing(struct error *err, const char *names, const void *const *given, size_t n)
{
	struct text rest = text_of(names), name;

	for (size_t i = 0; i < n && text_split(&rest, ',', &name); i++)
		if (!given[i]) {
			error_set(err, ERROR_USAGE, "%s is NULL", quoted(text_trim(name)));
			error_set_remedy(err, "see libcloop(3), cloop/base.h: NULL");
			return true;
		}
	return false;
}

bool lib_missing_list(struct error *err, const char *name, const void *list, size_t n)
{
	if (list || n == 0)
		return false;
	error_set(err, ERROR_USAGE, "%s is NULL, and has %zu entries", name, n);
	error_set_remedy(err, "see libcloop(3), cloop/base.h: NULL");
	return true;
}

struct cloop_error *cloop_error_new(void)
{
	struct cloop_error *err = mem_alloc(sizeof(*err));

	err->inner = ERROR_INIT;
	return err;
}

void cloop_error_free(struct cloop_error *err)
{
	if (!err)
		return;
	error_done(&err->inner);
	free(err);
}

void cloop_error_clear(struct cloop_error *err)
{
	if (err)
		error_clear(&err->inner);
}

static bool is_set(const struct cloop_error *err)
{
	return err && err->inner.code != ERROR_NONE;
}

bool cloop_error_is(const struct cloop_error *err, const char *code)
{
	return is_set(err) && code && strcmp(error_code_text(err->inner.code), code) == 0;
}

const char *cloop_error_code(const struct cloop_error *err)
{
	return is_set(err) ? error_code_text(err->inner.code) : "";
}

const char *cloop_error_message(const struct cloop_error *err)
{
	return is_set(err) ? err->inner.message : "";
}

const char *cloop_error_remediation(const struct cloop_error *err)
{
	const char *remedy = is_set(err) ? error_remedy(&err->inner) : NULL;

	return remedy ? remedy : "";
}

int cloop_error_http_status(const struct cloop_error *err)
{
	return is_set(err) ? error_code_http(err->inner.code) : 0;
}

char *cloop_error_json(const struct cloop_error *err)
{
	if (!is_set(err))
		return mem_strdup("{}");
	auto_json *envelope = error_to_json(&err->inner);
	return json_write(envelope);
}

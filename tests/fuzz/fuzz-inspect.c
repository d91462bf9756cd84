/*
 * An engine's inspect answer: whatever it is, what is taken from it is within its bounds, a
 * container that runs has no exit code, and the first object alone reads the same as in its list.
 */
#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "executor/container/inspect.h"
#include "json-mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct inspection *i)
{
	assert(i->id && i->status);
	assert(i->pid >= 0 && i->exit_code >= -1 && i->exit_code <= 255);
	assert(!i->running || i->exit_code == -1);
	for (const char *p = i->status; *p; p++)
		assert(*p < 'A' || *p > 'Z');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(inspection) whole = INSPECTION_INIT;
	struct text text = {(const char *)data, size};

	inspect_says_unknown(text);
	int r = inspect_parse(text, &whole, &err);
	assert((r == 0) == (err.code == ERROR_NONE));
	if (r < 0)
		return 0;
	check(&whole);
	AUTO(inspection) one = INSPECTION_INIT;
	auto_json *list = inspect_read_list(text, &err);
	r = inspect_read(json_array_get(list, 0), &one, &err);
	assert(r == 0 && strcmp(one.id, whole.id) == 0 && one.env.n == whole.env.n);
	return 0;
}

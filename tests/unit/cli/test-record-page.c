/* docs/reference/record.md names every member that a record has from the beginning. */
#include "unit/unit.h"

#include <string.h>

#include "cli/reference/record-page.h"
#include "executor/rundir/record.h"

static bool told(const char *path)
{
	size_t n = strlen(path);

	for (const struct record_page_row *r = record_page_rows; r->path; r++)
		if (strncmp(r->path, path, n) == 0 && (!r->path[n] || strchr(".[", r->path[n])))
			return true;
	return false;
}

static void test_members(void **state)
{
	struct record_facts facts = {.handle = "c-0123456789ab"};
	auto_json *shown = record_new(&facts);
	auto_json *record = record_public(shown);
	const char *name, *inner;
	json_t *value, *below;

	(void)state;
	json_object_foreach(record, name, value)
	{
		assert_true(told(name));
		json_object_foreach(value, inner, below)
		{
			char path[128];
			snprintf(path, sizeof(path), "%s.%s", name, inner);
			assert_true(told(path));
		}
	}
	assert_false(told("handl"));
	assert_false(told("supervision"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_members)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

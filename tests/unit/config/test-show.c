#include "unit/unit.h"

#include "base/json.h"
#include "base/mem.h"
#include "config/show.h"
#include "unit/sys/unit-dir.h"

static json_t *find(const json_t *shown, const char *key)
{
	size_t i;
	json_t *v;

	json_array_foreach(json_object_get(shown, "values"), i, v)
	{
		if (strcmp(json_get_string(v, "key"), key) == 0)
			return v;
	}
	return NULL;
}

static void assert_value(const json_t *shown, const char *key, const char *value, int line)
{
	json_t *v = find(shown, key);

	assert_non_null(v);
	auto_free char *got = json_dumps(json_object_get(v, "value"), JSON_ENCODE_ANY);
	assert_string_equal(got, value);
	assert_int_equal(json_get_int(v, "line", 0), line);
	assert_string_equal(json_get_string(v, "origin"), line ? "file" : "default");
}

static void test_defaults(void **unused)
{
	auto_error struct error err = ERROR_INIT;
	json_t *got = NULL;

	(void)unused;
	assert_done(show_config(NULL, NULL, &got, &err), &err);
	auto_json *shown = got;
	assert_value(shown, "executors.default", "\"container\"", 0);
	assert_value(shown, "executors.limits.max_cpu", "null", 0);
	assert_value(shown, "executors.container.pids_limit", "1024", 0);
	assert_value(shown, "executors.container.runtime", "\"\"", 0);
	assert_value(shown, "executors.container.group_add", "[]", 0);
	assert_value(shown, "executors.allow_host_process", "false", 0);
}

static void test_file(void **unused)
{
	auto_error struct error err = ERROR_INIT;
	auto_free char *file = mem_printf("%s/c.yaml", path);
	json_t *got = NULL;

	(void)unused;
	assert_done(file_replace_at(dir, "c.yaml", 0600,
			    TEXT("executors:\n  container: {id: box, memory: 2g}\n"
				 "  limits:\n    max_pids: 7\n"),
			    false, &err),
		&err);
	assert_done(show_config(file, "executors", &got, &err), &err);
	auto_json *shown = got;
	assert_value(shown, "executors.default", "\"box\"", 0);
	assert_value(shown, "executors.container.memory", "\"2g\"", 2);
	assert_value(shown, "executors.limits.max_pids", "7", 4);
	assert_null(find(shown, "orchestrator.min_free_disk_mb"));
	AUTO(str) text = STR_INIT(1 << 16);
	show_text(shown, &text);
	assert_non_null(strstr(str_text(&text), "executors.limits.max_pids: 7  # line 4\n"));
	assert_int_equal(show_config(file, "executors.limit", &got, &err), -1);
	assert_int_equal(err.code, ERROR_OPTION_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		IN_DIR(test_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Whom NO_PROXY covers. */
#include "unit/unit.h"

#include "image/registry/proxy.h"

static void test_bypass(void **state)
{
	static const struct {
		const char *list, *url;
		bool bypassed;
	} rows[] = {
		{NULL, "https://a.example", false},
		{"", "https://a.example", false},
		{",, ,", "https://a.example", false},
		{NULL, "https://127.0.0.1:5000", true},
		{NULL, "https://[::1]", true},
		{NULL, "https://localhost", true},
		{"*", "https://a.example", true},
		{"a.example", "https://a.example", true},
		{"a.example", "https://b.a.example", true},
		{"a.example", "https://ba.example", false},
		{".A.Example", "https://a.example", true},
		{"x, y  a.example", "https://a.example", true},
		{"x,example", "https://a.example", true},
		{"a.example:443", "https://a.example", true},
		{"a.example:444", "https://a.example", false},
		{":443", "https://a.example", false},
		{"10.1.2.3", "https://10.1.2.3", true},
		{"10.1.2.3", "https://10.1.2.4", false},
		{"10.0.0.0/8", "https://10.1.2.3", true},
		{"10.0.0.0/8", "https://11.1.2.3", false},
		{"8.8.8.0/23", "https://8.8.9.1", true},
		{"8.8.8.0/33", "https://8.8.8.0", false},
		{"0.0.0.0/0", "https://[2606::1]", false},
		{"2606::/16", "https://[2606::1]", true},
		{"[2606::1]:443", "https://[2606::1]", true},
		{"2606::1", "https://[2606::1]", true},
		{"3", "https://10.1.2.3", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO(url) u = {.target = NULL};
		assert_null(url_parse(text_of(rows[i].url), &u));
		if (proxy_bypassed(rows[i].list, &u) != rows[i].bypassed)
			fail_msg("%s, %s", rows[i].list ? rows[i].list : "(none)", rows[i].url);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_bypass)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

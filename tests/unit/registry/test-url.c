/* Which URLs a registry may name, and where relative ones lead (image-trust.md §6.2, §6.3). */
#include "unit/unit.h"

#include "base/mem.h"
#include "image/registry/url.h"

static void test_parse(void **state)
{
	static const char *const rows[][2] = {
		{"https://a.example", "https://a.example/"},
		{"HTTPS://A.Example:443/x?y=z", "https://a.example/x?y=z"},
		{"http://127.0.0.1:5000/t", "http://127.0.0.1:5000/t"},
		{"http://a.example:80", "http://a.example/"},
		{"https://a.example:80", "https://a.example:80/"},
		{"https://[::1]:5000/x", "https://[::1]:5000/x"},
		{"https://a.example?x", "https://a.example/?x"},
		{"https://a.example/x@y", "https://a.example/x@y"},
		{"https://a.example/x#f", "https://a.example/x"},
		{"https://a.example#f", "https://a.example/"},
		{"https://single:5000/", "https://single:5000/"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO(url) u = {.target = NULL};
		const char *fault = url_parse(text_of(rows[i][0]), &u);
		if (fault)
			fail_msg("%s %s", rows[i][0], fault);
		auto_free char *text = url_render(&u);
		assert_string_equal(text, rows[i][1]);
		assert_int_equal(u.has_fragment, strchr(rows[i][0], '#') != NULL);
	}
}

static void test_refused(void **state)
{
	static const char *const rows[] = {"", "a.example", "/x", "https:", "https:/x", "https://",
		"https:///x", "ftp://a.example/", "https://u@a.example/", "https://u:p@a.example",
		"https://@a.example/", "https://a.example:/", "https://a.example:0/",
		"https://a.example:65536/", "https://a.example:080/", "https://a_b.example/",
		"https://127.1/", "https://0x7f.0.0.1/", "https://2130706433/",
		"https://[::ffff:1.2.3.4]/", "https://[fe80::1%25eth0]/", "https://a..b/",
		"https://a.example./", "https://a.example\\@b.example/", "https://a.example/ x",
		"https://a.example/\x7f", "https://a.example/\xc3\xa4", "https://\xc3\xa4.example/",
		"https://a.example\t/", "javascript:alert(1)", "file:///etc/passwd"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO(url) u = {.target = NULL};
		if (!url_parse(text_of(rows[i]), &u))
			fail_msg("%s is accepted", rows[i]);
	}
}

static void test_length(void **state)
{
	AUTO(url) u = {.target = NULL};
	AUTO(url) longer = {.target = NULL};
	auto_free char *text = mem_alloc(URL_MAX_BYTES + 2);

	(void)state;
	memset(text, 'x', URL_MAX_BYTES);
	memcpy(text, "https://a.example/", 18);
	assert_null(url_parse(text_of(text), &u));
	text[URL_MAX_BYTES] = 'x';
	assert_non_null(url_parse(text_of(text), &longer));
}

static void test_resolve(void **state)
{
	static const char *const rows[][2] = {
		{"/y", "https://a.example:5000/y"},
		{"y", "https://a.example:5000/v2/y"},
		{"y?z=/", "https://a.example:5000/v2/y?z=/"},
		{"?z", "https://a.example:5000/v2/x?z"},
		{"//b.example/y", "https://b.example/y"},
		{"http://b.example", "http://b.example/"},
		{"y/z:1", "https://a.example:5000/v2/y/z:1"},
		{"#f", "https://a.example:5000/v2/"},
		{"y:z", NULL},
		{"https:y", NULL},
		{"//u@b.example/", NULL},
		{"///b.example", NULL},
		{"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO(url) base = {.target = NULL};
		AUTO(url) u = {.target = NULL};
		assert_null(url_parse(TEXT("https://a.example:5000/v2/x?a/b"), &base));
		const char *fault = url_resolve(&base, text_of(rows[i][0]), &u);
		if (!fault != (rows[i][1] != NULL))
			fail_msg("%s: %s", rows[i][0], fault ? fault : "accepted");
		if (fault)
			continue;
		auto_free char *text = url_render(&u);
		assert_string_equal(text, rows[i][1]);
	}
}

static bool same(const char *a, const char *b)
{
	AUTO(url) x = {.target = NULL};
	AUTO(url) y = {.target = NULL};

	assert_null(url_parse(text_of(a), &x));
	assert_null(url_parse(text_of(b), &y));
	return url_same_origin(&x, &y);
}

static void test_origin(void **state)
{
	(void)state;
	assert_true(same("https://a.example/x", "https://A.example:443/y"));
	assert_false(same("https://a.example/", "http://a.example:443/"));
	assert_false(same("https://a.example/", "https://a.example:444/"));
	assert_false(same("https://a.example/", "https://b.a.example/"));
}

static void test_registry(void **state)
{
	AUTO(url) u = {.target = NULL};

	(void)state;
	url_of_registry(false, "[::1]:5000", "/v2/", &u);
	auto_free char *text = url_render(&u);
	auto_free char *authority = url_authority(&u);
	assert_string_equal(text, "http://[::1]:5000/v2/");
	assert_string_equal(authority, "[::1]:5000");
	assert_true(url_names_loopback(&u));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_origin),
		cmocka_unit_test(test_registry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Edges of image-trust.md §2 that the public cases leave out. */
#include "unit/unit.h"

#include "base/mem.h"
#include "image/reference.h"

#define D256 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_accepted(void **state)
{
	(void)state;
	static const struct {
		const char *text, *rendered, *run_as;
		bool qualified;
	} rows[] = {
		{"a", "a", "a:latest", false},
		{"a-", NULL, NULL, false},
		{"x/y:1", "x/y:1", "x/y:1", false},
		{"a.b:5000", "a.b:5000", "a.b:5000", false},
		{"LOCALHOST/a", "localhost/a", "localhost/a:latest", true},
		{"a:1@sha256:" D256, "a:1@sha256:" D256, "a@sha256:" D256, false},
		{"Index.Docker.IO/a", "docker.io/library/a", "docker.io/library/a:latest", true},
		{"index.docker.io:443/a", "index.docker.io:443/a", "index.docker.io:443/a:latest",
			true},
		{"registry-1.docker.io/a/b:t", "docker.io/a/b:t", "docker.io/a/b:t", true},
		{"docker.io/library/a", "docker.io/library/a", "docker.io/library/a:latest", true},
		{"docker/a", "docker/a", "docker/a:latest", false},
		{"[2001:DB8::A]:1/a", "[2001:db8::a]:1/a", "[2001:db8::a]:1/a:latest", true},
		{"[::]/a", "[::]/a", "[::]/a:latest", true},
		{"0.0.0.0/a", "0.0.0.0/a", "0.0.0.0/a:latest", true},
		{"255.255.255.255:65535/a", "255.255.255.255:65535/a",
			"255.255.255.255:65535/a:latest", true},
		{"1.2.3.4a/a", "1.2.3.4a/a", "1.2.3.4a/a:latest", true},
		{"1.0xg/a", "1.0xg/a", "1.0xg/a:latest", true},
		{"a.0x1.b/a", "a.0x1.b/a", "a.0x1.b/a:latest", true},
		{"x.io/sha256:abc", "x.io/sha256:abc", "x.io/sha256:abc", true},
		{"x.io/" D256, "x.io/" D256, "x.io/" D256 ":latest", true},
		{"sha256/a", "sha256/a", "sha256/a:latest", false},
		{"a/" D256, "a/" D256, "a/" D256 ":latest", false},
		{"sha2567", "sha2567", "sha2567:latest", false},
		{"a--b__c.d_e", "a--b__c.d_e", "a--b__c.d_e:latest", false},
		{"0", "0", "0:latest", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		struct image_reference r;
		char out[IMAGE_TEXT_MAX + 1];
		int got = image_reference_parse(text_of(rows[i].text), &r, &err);
		if (!rows[i].rendered) {
			assert_int_equal(got, -1);
			continue;
		}
		assert_done(got, &err);
		image_reference_render(&r, out);
		assert_string_equal(out, rows[i].rendered);
		image_reference_run_as(&r, out);
		assert_string_equal(out, rows[i].run_as);
		assert_int_equal(r.qualified, rows[i].qualified);
	}
}

static void test_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum error_code code;
	} rows[] = {
		{"a\x7f\xd1", ERROR_IMAGE_REF_BAD_BYTE},
		{"\xd1 a", ERROR_IMAGE_REF_NOT_ASCII},
		{"- a", ERROR_IMAGE_REF_BAD_BYTE},
		{"-a://b", ERROR_IMAGE_REF_LEADING_DASH},
		{"a://b@c", ERROR_IMAGE_REF_HAS_SCHEME},
		{"://", ERROR_IMAGE_REF_HAS_SCHEME},
		{"@sha256:x", ERROR_IMAGE_REF_BAD_DIGEST},
		{":@sha256:" D256, ERROR_IMAGE_REF_BAD_TAG},
		{":t@sha256:" D256, ERROR_IMAGE_REF_NO_REPOSITORY},
		{"a@@sha256:" D256, ERROR_IMAGE_REF_BAD_DIGEST},
		{"a@SHA256:" D256, ERROR_IMAGE_REF_BAD_DIGEST},
		{"a@sha256:" D256 "0", ERROR_IMAGE_REF_BAD_DIGEST},
		{"a@sha256:" D256 ":1", ERROR_IMAGE_REF_BAD_DIGEST},
		{"gh_cr.io:0/X:+", ERROR_IMAGE_REF_BAD_TAG},
		{"gh_cr.io:0/X", ERROR_IMAGE_REF_BAD_HOST},
		{"ghcr.io:0/X", ERROR_IMAGE_REF_BAD_PORT},
		{"ghcr.io:+1/x", ERROR_IMAGE_REF_BAD_PORT},
		{":/x", ERROR_IMAGE_REF_BAD_HOST},
		{":5000/x", ERROR_IMAGE_REF_BAD_HOST},
		{"a:b:c/x", ERROR_IMAGE_REF_BAD_HOST},
		{"[::1]:5:6/x", ERROR_IMAGE_REF_BAD_HOST},
		{"[::1/x", ERROR_IMAGE_REF_BAD_HOST},
		{"[::1]]:5/x", ERROR_IMAGE_REF_BAD_HOST},
		{"[[::1]]/x", ERROR_IMAGE_REF_BAD_HOST},
		{"[1.2.3.4]/x", ERROR_IMAGE_REF_BAD_HOST},
		{"[::1:2]/x", ERROR_IMAGE_REF_BAD_HOST}, /* inet_ntop: ::0.1.0.2 */
		{"[::ffff:7f00:1]/x", ERROR_IMAGE_REF_BAD_HOST},
		{"[1::0:0]/x", ERROR_IMAGE_REF_BAD_HOST},
		{"[]:5/x", ERROR_IMAGE_REF_BAD_HOST},
		{"[::1]:0/x", ERROR_IMAGE_REF_BAD_PORT},
		{"1.2.3/x", ERROR_IMAGE_REF_BAD_HOST},
		{"1.2.3.4.5/x", ERROR_IMAGE_REF_BAD_HOST},
		{"a.1/x", ERROR_IMAGE_REF_BAD_HOST},
		{"a.0X7F/x", ERROR_IMAGE_REF_BAD_HOST},
		{"1.2.3.4./x", ERROR_IMAGE_REF_BAD_HOST},
		{"007:5000/x", ERROR_IMAGE_REF_BAD_HOST},
		{".a/x", ERROR_IMAGE_REF_BAD_HOST},
		{"x.io/a/B/c..d", ERROR_IMAGE_REF_UPPERCASE},
		{"x.io/a..b/C", ERROR_IMAGE_REF_BAD_REPOSITORY},
		{"x.io/A..b", ERROR_IMAGE_REF_UPPERCASE},
		{"x.io/..A", ERROR_IMAGE_REF_UPPERCASE},
		{"x.io//A", ERROR_IMAGE_REF_BAD_REPOSITORY},
		{"a/", ERROR_IMAGE_REF_BAD_REPOSITORY},
		{"/", ERROR_IMAGE_REF_BAD_REPOSITORY},
		{"a_-b", ERROR_IMAGE_REF_BAD_REPOSITORY},
		{"a-_b", ERROR_IMAGE_REF_BAD_REPOSITORY},
		{"-.a", ERROR_IMAGE_REF_LEADING_DASH},
		{D256 "@sha256:" D256, ERROR_IMAGE_REF_IMAGE_ID},
		{"sha512:a", ERROR_IMAGE_REF_IMAGE_ID},
		{"sha256@sha256:" D256, ERROR_IMAGE_REF_IMAGE_ID},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		struct image_reference r;
		if (image_reference_parse(text_of(rows[i].text), &r, &err) != -1 ||
			err.code != rows[i].code)
			fail_msg("%s: %s", rows[i].text, error_code_text(err.code));
		assert_non_null(strstr(err.message, "malformed image reference"));
	}
}

/* `prefix`, then n times `a`. */
static enum error_code code_of_length(const char *prefix, size_t n)
{
	auto_error struct error err = ERROR_INIT;
	struct image_reference r;
	char text[600] = "";

	memcpy(text, prefix, strlen(prefix));
	memset(text + strlen(prefix), 'a', n);
	return image_reference_parse(text_of(text), &r, &err) == 0 ? ERROR_NONE : err.code;
}

static void test_lengths(void **state)
{
	(void)state;
	assert_int_equal(code_of_length("", 255), ERROR_NONE);
	assert_int_equal(code_of_length("", 256), ERROR_IMAGE_REF_NAME_TOO_LONG);
	assert_int_equal(code_of_length("docker.io/", 255 - 18), ERROR_NONE);
	assert_int_equal(code_of_length("docker.io/", 255 - 17), ERROR_IMAGE_REF_NAME_TOO_LONG);
	/* The limits hold for the text as given, too: the Hub's other names are longer. */
	assert_int_equal(code_of_length("registry-1.docker.io/a/", 232), ERROR_NONE);
	assert_int_equal(
		code_of_length("registry-1.docker.io/a/", 233), ERROR_IMAGE_REF_NAME_TOO_LONG);
	assert_int_equal(code_of_length("", 512), ERROR_IMAGE_REF_NAME_TOO_LONG);
	assert_int_equal(code_of_length("", 513), ERROR_IMAGE_REF_TOO_LONG);
	assert_int_equal(code_of_length("-", 513), ERROR_IMAGE_REF_TOO_LONG);
}

static void test_message(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct image_reference r;

	assert_int_equal(image_reference_parse(TEXT("ghcr.io/a\tb"), &r, &err), -1);
	assert_non_null(strstr(err.message, "byte 9"));
	assert_non_null(strstr(err.message, "\"ghcr.io/a\\x09b\""));
	assert_int_equal(image_reference_parse(TEXT("u:p@ghcr.io/x"), &r, &err), -1);
	assert_non_null(strstr(error_remedy(&err), "without user and password"));
	assert_int_equal(image_reference_parse(TEXT("a@md5:00"), &r, &err), -1);
	assert_null(strstr(error_remedy(&err), "password"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_message),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

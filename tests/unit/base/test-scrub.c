#include "unit/unit.h"

#include "base/scrub.h"
#include "base/str.h"

static void scrubs(const char *text, const char *want)
{
	AUTO(str) out = STR_INIT(4096);

	scrub_add(&out, text_of(text), 4096);
	assert_string_equal(str_text(&out), want);
}

static void test_shapes(void **state)
{
	(void)state;
	static const char *const pairs[][2] = {
		{"ghp_0123456789abcdef0123456789abcdef0123", "[redacted]"},
		{"the key (sk-"
		 "0123456789abcdef01234567) leaked",
			"the key ([redacted]) leaked"},
		{"AKIAIOSFODNN7EXAMPLE", "[redacted]"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl, expired",
			"[redacted], expired"},
		{"clone of https://bob:hunter2@git.example/x failed",
			"clone of https://[redacted]@git.example/x failed"},
		{"https://a:b@c@host/", "https://[redacted]@host/"},
		{"Authorization: Basic Ym9iOmh1bnRlcjI=\nnext", "Authorization: [redacted]\nnext"},
		{"{\"authorization\": \"Bearer x\"}", "{\"authorization\": \"[redacted]"},
		{"sent bearer abcdefghijklmnop1234", "sent bearer [redacted]"},
		{"DB_PASSWORD=hunter2 and more", "DB_PASSWORD=[redacted] and more"},
		{"password: hunter2, then", "password: [redacted], then"},
		{"{\"api_key\":\"x\",\"b\":1}", "{\"api_key\":\"[redacted]\",\"b\":1}"},
		{"run --token abc --more", "run --token [redacted] --more"},
		{"run --registry-password=abc", "run --registry-password=[redacted]"},
		{"?access_token=abc&x=1", "?access_token=[redacted]&x=1"},
		{"-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE "
		 "KEY-----\nrest",
			"[redacted]\nrest"},
		{"-----BEGIN PRIVATE KEY-----\nabc", "[redacted]"},
		{"wJalrXUtnFEMI0K7MDENG1bPxRfiCYEXAMPLEKEY", "[redacted]"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		scrubs(pairs[i][0], pairs[i][1]);
		scrubs(pairs[i][1], pairs[i][1]);
	}
}

static void test_innocent(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"",
		"rotation of the token was asked for",
		"the lease was taken back by root: 3 tokens, secrets of team a",
		"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"grant_c337363d33acdb04c2289a46 of sec_61c4e5753e0d2a9986426c8d",
		"/home/Some.User/Projects2024/a-rather-long-name/of_a_directory",
		"registry.example:5000/team/image:v1.2.3-rc.1",
		"https://git.example/x?y=1 and mailto:bob@example.org",
		"task-force risk-assessment-of-the-whole-thing",
		"-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
		"2026-11-29T21:23:47Z gh\xc3\xb6 \xff\x01",
		"bearer of news",
		"ghp_short",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		scrubs(texts[i], texts[i]);
}

static void test_cut(void **state)
{
	(void)state;
	AUTO(str) out = STR_INIT(4096);

	scrub_add(&out, TEXT("abcdef"), 6);
	assert_string_equal(str_text(&out), "abcdef");
	str_reset(&out);
	scrub_add(&out, TEXT("abcd\xc3\xb6xyz"), 5);
	assert_string_equal(str_text(&out), "abcd...");
	/* What the cut parts is a credential no less. */
	str_reset(&out);
	scrub_add(&out, TEXT("x ghp_0123456789abcdef0123456789abcdef0123"), 10);
	assert_string_equal(str_text(&out), "x [redacte...");
	str_reset(&out);
	scrub_add(&out, (struct text){"a\0password=b", 12}, 100);
	assert_memory_equal(out.data, "a\0password=[redacted]", out.len);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_innocent),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

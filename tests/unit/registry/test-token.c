/* What is sent for a token, and what is taken for one (image-trust.md §6.3). */
#include "unit/unit.h"

#include "base/mem.h"
#include "base/wipe.h"
#include "image/registry/token.h"

static struct challenge challenge = {
	.scheme = CHALLENGE_BEARER, .realm = "https://t.example/token", .service = "a b&c"};

static void test_query(void **state)
{
	static const char *const realms[][2] = {
		{"https://t.example/token",
			"/token?service=a%20b%26c&scope=repository%3Ax%2Fy%3Apull"},
		{"https://t.example?z", "/?z&service=a%20b%26c&scope=repository%3Ax%2Fy%3Apull"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(realms); i++) {
		AUTO(url) realm = {.target = NULL};
		struct challenge c = challenge;
		struct token_question q = {.challenge = &c, .repository = "x/y"};
		auto_free char *text = mem_strdup(realms[i][0]);
		c.realm = text;
		assert_null(url_parse(text_of(c.realm), &realm));
		token_add_query(&q, &realm);
		assert_string_equal(realm.target, realms[i][1]);
	}
}

static void test_form(void **state)
{
	struct token_question q = {.challenge = &challenge, .repository = "x"};

	(void)state;
	char *form = token_form(&q, "id&\x01\xff");
	assert_string_equal(form, "grant_type=refresh_token&service=a%20b%26c&"
				  "scope=repository%3Ax%3Apull&client_id=cloop&"
				  "refresh_token=id%26%01%FF");
	wipe_string(&form);
}

static void test_basic(void **state)
{
	struct auth_login login = {.user = "user", .password = "a:b"};

	(void)state;
	char *header = token_basic(&login);
	assert_string_equal(header, "Basic dXNlcjphOmI=");
	wipe_string(&header);
}

static void test_answers(void **state)
{
	static const char *const rows[][2] = {
		{"{\"token\":\"abc\"}", "Bearer abc"},
		{"{\"access_token\":\"abc\"}", "Bearer abc"},
		{"{\"token\":\"a\",\"access_token\":\"b\"}", "Bearer a"},
		{"{\"token\":\"\",\"access_token\":\"b\"}", "Bearer b"},
		{"{\"token\":null,\"access_token\":\"b\"}", "Bearer b"},
		{"{\"token\":7,\"access_token\":\"b\"}", NULL},
		{"{\"token\":\"a\\u0000b\"}", NULL},
		{"{\"token\":\"a b\"}", NULL},
		{"{\"token\":\"a\",\"token\":\"b\"}", NULL},
		{"[\"a\"]", NULL},
		{"", NULL},
		{"secret", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		char *header = token_bearer(text_of(rows[i][0]), &err);
		assert_int_equal(!header, !rows[i][1]);
		if (header)
			assert_string_equal(header, rows[i][1]);
		else
			assert_int_equal(err.code, ERROR_REGISTRY_BAD_ANSWER);
		assert_null(strstr(err.message, "secret"));
		wipe_string(&header);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_form),
		cmocka_unit_test(test_basic),
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

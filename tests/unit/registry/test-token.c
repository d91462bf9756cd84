/* What is sent for a token, and what is taken for one (image-trust.md §6.3). */
#include "unit/unit.h"

#include <malloc.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
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
	AUTO(secret) form = {.p = NULL};
	token_form(&q, TEXT("id&\x01\xff"), &form);
	assert_string_equal(form.p, "grant_type=refresh_token&service=a%20b%26c&"
				    "scope=repository%3Ax%3Apull&client_id=cloop&"
				    "refresh_token=id%26%01%FF");
}

static void test_basic(void **state)
{
	char password[] = "a:b";
	struct auth_login login = {.user = "user", .password = {password, 3}};

	(void)state;
	AUTO(secret) header = {.p = NULL};
	token_basic(&login, &header);
	assert_string_equal(header.p, "Basic dXNlcjphOmI=");
	assert_int_equal(header.len, strlen(header.p));
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
		AUTO(secret) header = {.p = NULL};
		int r = token_bearer(text_of(rows[i][0]), &header, &err);
		assert_int_equal(r, rows[i][1] ? 0 : -1);
		if (r == 0)
			assert_string_equal(header.p, rows[i][1]);
		else
			assert_int_equal(err.code, ERROR_REGISTRY_BAD_ANSWER);
		assert_null(strstr(err.message, "secret"));
	}
}

enum { LONG = 400, MARK = 40 };
static const char *heap; /* its begin; glibc's grows to sbrk(0) */

static void fill(char *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (char)('A' + i * 7 % 23);
	out[n] = '\0';
}

/* How often the first MARK bytes of that are in the heap, freed memory included. */
static size_t found_in_heap(void)
{
	char mark[MARK + 1];
	const char *end = sbrk(0), *p = heap;
	size_t found = 0;

	fill(mark, MARK);
	while (p < end && (p = memmem(p, (size_t)(end - p), mark, MARK))) {
		found++;
		p += MARK;
	}
	return found;
}

static void test_nothing_is_left(void **state)
{
	(void)state;
	char password[LONG + 1], answer[LONG + 32];
	struct auth_login login = {.user = "user", .password = {password, LONG}};
	struct token_question q = {.challenge = &challenge, .repository = "x"};

	fill(password, LONG);
	for (int i = 0; i < 3; i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(secret) form = {.p = NULL};
		AUTO(secret) basic = {.p = NULL};
		AUTO(secret) bearer = {.p = NULL};
		token_form(&q, secret_text(&login.password), &form);
		token_basic(&login, &basic);
		snprintf(answer, sizeof(answer), "{\"token\":\"%s\"}", password);
		assert_done(token_bearer(text_of(answer), &bearer, &err), &err);
	}
	assert_int_equal(found_in_heap(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_form),
		cmocka_unit_test(test_basic),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_nothing_is_left),
	};
	auto_free char *first = mem_alloc(1);

	mallopt(M_PERTURB, 0); /* it would overwrite what is freed */
	heap = first;

	return cmocka_run_group_tests(tests, NULL, NULL);
}

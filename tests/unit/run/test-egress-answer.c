/* Whose words an answer's are. */
#include "unit/unit.h"

#include "run/egress-answer.h"

static const struct {
	const char *bytes;
	bool whole;
	const char *verdict, *status, *body;
} rows[] = {
	{"HTTP/1.1 200 OK\r\nX-Cloop-Egress-Verdict: allow\r\n\r\nhello", true, "allow", "200",
		"hello"},
	{"HTTP/1.1 403 no\r\nX-Cloop-Egress-Verdict: host_not_allowed\r\nRetry-After: "
	 "1\r\n\r\nRule",
		true, "host_not_allowed", "403", "Rule"},
	/* An origin names the field in a value, before the proxy's own and in a body. */
	{"HTTP/1.1 200 OK\r\nFoo: X-Cloop-Egress-Verdict: denied\r\n"
	 "X-Cloop-Egress-Verdict: allow\r\n\r\nX-Cloop-Egress-Verdict: denied\r\n\r\n",
		true, "allow", "200", "X-Cloop-Egress-Verdict: denied\r\n\r\n"},
	{"HTTP/1.1 200 X-Cloop-Egress-Verdict: allow\r\nA: b\r\n\r\n", true, "none", "200", ""},
	{"HTTP/1.1 200 OK\r\n\r\nX-Cloop-Egress-Verdict: allow\r\n\r\n", true, "none", "200",
		"X-Cloop-Egress-Verdict: allow\r\n\r\n"},
	{"HTTP/1.1 200 OK\r\nX-Cloop-Egress-Verdict: allow\r\n", false, "none", "", ""},
	{"\r\n\r\n", true, "none", "", ""},
	{"", false, "none", "", ""},
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct egress_answer a = egress_answer_read(text_of(rows[i].bytes));
		assert_int_equal(a.whole, rows[i].whole);
		assert_true(text_is(a.verdict, rows[i].verdict));
		assert_true(text_is(a.status, rows[i].status));
		assert_true(text_is(a.body, rows[i].body));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

	return cmocka_run_group_tests_name("egress-answer", tests, NULL, NULL);
}

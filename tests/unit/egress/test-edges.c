/* What the public cases of the proxy leave open: limits to the byte, and mixed answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "egress/decide.h"
#include "egress/http-head.h"

static bool request(const char *raw, struct http_request *ret)
{
	return http_head_request(text_of(raw), ret);
}

static void test_line_limit(void **state)
{
	static const char frame[] = "GET http://h/ HTTP/1.1";
	auto_free struct http_request *q = mem_alloc(sizeof(*q));

	(void)state;
	for (int more = 0; more <= 1; more++) {
		int n = HTTP_LINE_MAX - (int)strlen(frame) + more;
		auto_free char *raw = mem_printf("GET http://h/%0*d HTTP/1.1\r\n\r\nbody", n, 0);
		assert_int_equal(request(raw, q), more == 0);
		if (more == 0)
			assert_int_equal(q->head.bytes, HTTP_LINE_MAX + 4);
	}
}

static void test_fields_limit(void **state)
{
	auto_free struct http_request *q = mem_alloc(sizeof(*q));

	(void)state;
	/* "X:", the value, CRLF. */
	for (int more = 0; more <= 1; more++) {
		auto_free char *raw = mem_printf("GET http://h/ HTTP/1.1\r\nX:%0*d\r\n\r\n",
			HTTP_FIELDS_BYTES_MAX - 4 + more, 0);
		assert_int_equal(request(raw, q), more == 0);
	}
}

static void test_lengths(void **state)
{
	static const struct {
		const char *length;
		bool good;
		uint64_t value;
	} rows[] = {{"007", true, 7}, {"999999999999999999", true, 999999999999999999},
		{"0", true, 0}, {"", false, 0}, {"0x1", false, 0}, {"1 ", true, 1},
		{"1\t2", false, 0}};
	auto_free struct http_request *q = mem_alloc(sizeof(*q));

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *raw = mem_printf(
			"POST http://h/ HTTP/1.1\r\nContent-Length: %s\r\n\r\n", rows[i].length);
		assert_int_equal(request(raw, q), rows[i].good);
		if (rows[i].good)
			assert_int_equal(q->head.body.length, rows[i].value);
	}
	assert_true(request("CONNECT h:1 HTTP/1.1\r\nContent-Length: 0\r\n\r\n", q));
	assert_int_equal(q->head.body.kind, HTTP_BODY_NONE);
	assert_false(request("GET http://h/ HTTP/1.1\r\nX: y\r\n", q));
	assert_false(request("GET http://h/ HTTP/1.1\r\n\r", q));
	assert_false(request("", q));
}

static enum egress_verdict answer(const char *grant, const char *first, const char *second)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_grant) g;
	auto_json *object = json_loads(grant, 0, NULL);
	struct egress_pending p = {.name_matched = false};
	struct address a[2];

	assert_int_equal(egress_grant_read(object, &g, &err), 0);
	assert_true(address_parse(text_of(first), &a[0]) && address_parse(text_of(second), &a[1]));
	return decide_addresses(&g, &p, a, 2);
}

static void test_answers(void **state)
{
	static const char range[] = "{\"id\": \"egress_0123456789abcdef01234567\", \"subject\": "
				    "\"any\", \"cidrs\": [\"10.8.0.0/24\", \"168.63.129.16/32\"]}";

	(void)state;
	/* In the order of the answer: the first refusal is the one that is told. */
	assert_int_equal(answer(range, "8.8.8.8", "10.9.0.1"), EGRESS_VERDICT_HOST);
	assert_int_equal(answer(range, "10.9.0.1", "8.8.8.8"), EGRESS_VERDICT_BLOCKED);
	assert_int_equal(answer(range, "10.8.0.1", "10.8.0.2"), EGRESS_VERDICT_ALLOW);
	assert_int_equal(answer(range, "168.63.129.16", "10.8.0.2"), EGRESS_VERDICT_ALLOW);
	assert_int_equal(answer(range, "10.8.0.1", "169.254.169.254"), EGRESS_VERDICT_BLOCKED);
}

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t bytes;
	} rows[] = {{"1024t", true, EGRESS_GRANT_BYTES_MAX}, {"1025t", false, 0},
		{"1125899906842624", true, EGRESS_GRANT_BYTES_MAX}, {"1125899906842625", false, 0},
		{"0k", false, 0}, {"01k", false, 0}, {"1B", true, 1}, {"k", false, 0},
		{"+1", false, 0}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		uint64_t bytes = 0;
		bool good = egress_grant_bytes(text_of(rows[i].text), &bytes, &err) == 0;
		if (good != rows[i].good || bytes != rows[i].bytes)
			fail_msg("%s", rows[i].text);
	}
}

static void test_host_before_a_port(void **state)
{
	static const char *const rows[][2] = {{"[2001:DB8::1]:443", "[2001:db8::1]"},
		{"[::ffff:1.2.3.4]:1", "1.2.3.4"}, {"A.Example.:80", "a.example"}};
	char host[AUTHORITY_HOST_SIZE];
	struct authority a;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_true(authority_parse(AUTHORITY_CONNECT, text_of(rows[i][0]), &a));
		authority_host(&a, host);
		assert_string_equal(host, rows[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host_before_a_port),
		cmocka_unit_test(test_line_limit),
		cmocka_unit_test(test_fields_limit),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

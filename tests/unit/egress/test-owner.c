/* The owner's side of a real cloop-egress (egress/owner.h). */
#include "../unit.h"

#include <poll.h>
#include <signal.h>

#include "base/json.h"
#include "base/mem.h"
#include "egress/owner.h"
#include "sys/clock.h"

#define ID "sess_0123456789abcdef01234567"

static const struct egress_owner_facts facts = {"h-1", "/srv/\xff", "container", "any"};

/* As large as a grant may be. */
static void fill(struct egress_session *s)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *grant =
		json_pack("{s:s, s:s, s:[], s:I}", "id", "egress_0123456789abcdef01234567",
			"subject", "any", "hosts", "max_bytes_up", (json_int_t)1000);
	char label[61];

	memset(label, 'a', 60);
	label[60] = '\0';
	for (int i = 0; i < EGRESS_GRANT_HOSTS_MAX; i++) {
		auto_free char *host = mem_printf("%s.%s.%s.h%d", label, label, label, i);
		json_array_append_new(json_object_get(grant, "hosts"), json_string(host));
	}
	*s = (struct egress_session){.id = ID,
		.deadline_ms = clock_boottime_ms() + 60000,
		.max_connections = 64,
		.dial_timeout_s = 15,
		.bytes_up = 10,
		.bytes_down = 20};
	sha256_hex(TEXT("token"), s->token_sha256);
	assert_done(egress_grant_read(grant, &s->grant, &err), &err);
}

static void test_a_session_from_open_to_close(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_owner) o = EGRESS_OWNER_INIT;
	AUTO(egress_session) s = {.deadline_ms = 0};
	struct address loopback = {AF_INET, {127, 0, 0, 1}};
	struct endpoint at = {.port = 0};
	struct egress_counters counters;
	auto_json *stats = NULL;
	char row[4096];

	(void)state;
	fill(&s);
	auto_fd int listener = egress_owner_listen(&loopback, &at, &err);
	assert_true(listener >= 0 && at.port != 0);
	assert_done(egress_owner_start(PROGRAM, &o, &err), &err);
	assert_done(egress_owner_add_listener(&o, "run", listener, &err), &err);
	assert_int_equal(egress_owner_add_listener(&o, "run", listener, &err), -1);
	assert_done(egress_owner_open(&o, &s, "run", &facts, &err), &err);
	assert_done(egress_owner_renew(&o, ID, s.deadline_ms + 1, &err), &err);
	assert_done(egress_owner_stats(&o, &stats, &err), &err);
	json_t *one = json_array_get(json_object_get(stats, "sessions"), 0);
	assert_string_equal(json_get_string(one, "session"), ID);
	assert_int_equal(json_get_int(one, "bytes_up", 0), 10);
	assert_done(egress_owner_close(&o, ID, "run_ended", &counters, &err), &err);
	assert_int_equal(counters.bytes_down, 20);
	assert_int_equal(egress_owner_close(&o, ID, "run_ended", &counters, &err), 1);
	assert_int_equal(egress_owner_renew(&o, ID, s.deadline_ms, &err), -1);
	assert_true(error_is(&err, ERROR_EGRESS_PROXY_FAILED));
	egress_owner_stop(&o);
	ssize_t n = read(o.events, row, sizeof(row) - 1);
	assert_true(n > 0);
	row[n] = '\0';
	auto_json *event = json_loads(row, 0, NULL);
	assert_string_equal(json_get_string(event, "action"), "egress.close");
	assert_string_equal(json_get_string(event, "reason"), "run_ended");
	assert_string_equal(json_get_string(event, "handle"), "h-1");
	assert_int_equal(json_get_int(event, "bytes_down", 0), 20);
}

static void test_a_session_reads_back(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_session) s = {.deadline_ms = 0};
	AUTO(egress_session) again = {.deadline_ms = 0};

	(void)state;
	fill(&s);
	auto_json *json = egress_session_to_json(&s);
	assert_done(egress_session_read(json, &again, &err), &err);
	auto_json *second = egress_session_to_json(&again);
	assert_true(json_equal(json, second));
	assert_null(again.token.p);
	json_object_del(json, "token_sha256");
	egress_session_done(&again);
	assert_int_equal(egress_session_read(json, &again, &err), -1);
}

static void test_a_proxy_that_is_killed_is_noticed(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_owner) o = EGRESS_OWNER_INIT;
	struct egress_counters counters;

	(void)state;
	assert_done(egress_owner_start(PROGRAM, &o, &err), &err);
	kill(o.proxy.pid, SIGKILL);
	struct pollfd p = {.fd = o.control, .events = POLLIN};
	assert_int_equal(poll(&p, 1, 5000), 1);
	assert_int_equal(egress_owner_close(&o, ID, "x", &counters, &err), -1);
	assert_true(error_is(&err, ERROR_EGRESS_PROXY_FAILED));
	egress_owner_stop(&o);
	assert_int_equal(egress_owner_stats(&o, NULL, &err), -1);
}

/* One that hangs is killed, and waited for no longer than is promised. */
static void test_a_proxy_that_does_not_answer(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_owner) o = EGRESS_OWNER_INIT;

	(void)state;
	assert_done(egress_owner_start(PROGRAM, &o, &err), &err);
	kill(o.proxy.pid, SIGSTOP);
	int64_t began = clock_boottime_ms();
	assert_int_equal(egress_owner_stats(&o, NULL, &err), -1);
	assert_true(clock_boottime_ms() - began >= EGRESS_OWNER_ANSWER_MS);
	egress_owner_stop(&o);
	assert_int_equal(o.proxy.pid, -1);
}

static void test_what_cannot_start(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_owner) o = EGRESS_OWNER_INIT;
	struct address loopback = {AF_INET, {127, 0, 0, 1}};
	struct endpoint at = {.port = 0};

	(void)state;
	assert_int_equal(egress_owner_start("/nonexistent/cloop-egress", &o, &err), -1);
	assert_true(error_is(&err, ERROR_EGRESS_PROXY_FAILED));
	assert_int_equal(egress_owner_start("/bin/true", &o, &err), -1);
	assert_true(error_is(&err, ERROR_EGRESS_PROXY_FAILED));
	auto_fd int first = egress_owner_listen(&loopback, &at, &err);
	assert_true(first >= 0);
	assert_int_equal(egress_owner_listen(&loopback, &at, &err), -1);
	assert_true(error_is(&err, ERROR_SANDBOX_EGRESS_UNAVAILABLE));
	/* An address that is not there yet. */
	struct address later = {AF_INET, {192, 0, 2, 77}};
	struct endpoint there = {.port = 0};
	auto_fd int second = egress_owner_listen(&later, &there, &err);
	assert_true(second >= 0 && there.port != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_session_from_open_to_close),
		cmocka_unit_test(test_a_session_reads_back),
		cmocka_unit_test(test_a_proxy_that_is_killed_is_noticed),
		cmocka_unit_test(test_a_proxy_that_does_not_answer),
		cmocka_unit_test(test_what_cannot_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

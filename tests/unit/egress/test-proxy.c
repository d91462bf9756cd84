/*
 * The whole proxy with a resolver and a dialler of the test (network.md §17.10): every case of
 * `decide` through a real conversation, and a resolver that lies the second time.
 */
#include "../unit.h"

#include <errno.h>
#include <signal.h>

#include "base/json.h"
#include "base/mem.h"
#include "proxy-stage.h"
#include "sys/clock.h"

enum { ADDRESSES_MAX = 16, ANSWER_SIZE = 16384, SOURCE_CONNECTIONS = 64 };

/* What the hooks answer, and what they were asked. One conversation at a time uses it. */
struct script {
	json_t *answers; /* of addresses; the n-th look-up gets the n-th list if they are lists */
	int lookups;
	char dialled[ADDRESSES_MAX][INET6_ADDRSTRLEN];
	int dials;
	int connect_to; /* port on 127.0.0.1; 0: each dial fails */
};

static size_t resolve(void *data, const char *host, struct address *ret, size_t max)
{
	struct script *s = data;
	json_t *list = s->answers, *value;
	size_t i, n = 0;

	(void)host;
	if (json_is_array(json_array_get(list, 0)))
		list = json_array_get(list, (size_t)s->lookups);
	s->lookups++;
	json_array_foreach(list, i, value)
	{
		assert_true(n < max && address_parse(json_text(value), &ret[n]));
		ret[n] = address_unmapped(&ret[n]);
		n++;
	}
	return n;
}

static int dial(void *data, const struct address *a, uint16_t port)
{
	struct script *s = data;
	struct address loopback = {AF_INET, {127, 0, 0, 1}};
	struct sockaddr_storage to;

	(void)port;
	assert_true(s->dials < ADDRESSES_MAX);
	address_text(a, s->dialled[s->dials++]);
	errno = ECONNREFUSED;
	if (!s->connect_to)
		return -1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	socklen_t len = socket_address_make(&loopback, (uint16_t)s->connect_to, &to);
	return connect(fd, (struct sockaddr *)&to, len) < 0 && errno != EINPROGRESS ? -1 : fd;
}

static struct script script;
static const struct proxy_hooks hooks = {&script, resolve, dial, NULL};

/* ---- Conversations ---- */

static void send_all(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Until the proxy closes; the connection is closed. */
static void ask(struct proxy_stage *stage, const char *request, char answer[ANSWER_SIZE])
{
	auto_fd int fd = proxy_stage_connect(stage);
	size_t len = 0;
	ssize_t n;

	assert_true(fd >= 0);
	send_all(fd, request);
	while ((n = recv(fd, answer + len, ANSWER_SIZE - 1 - len, 0)) > 0)
		len += (size_t)n;
	answer[len] = '\0';
}

static void assert_verdict(const char *answer, const char *verdict, int status)
{
	auto_free char *line = mem_printf("X-Cloop-Egress-Verdict: %s\r\n", verdict);
	auto_free char *begin = mem_printf("HTTP/1.1 %d ", status);

	if (strncmp(answer, begin, strlen(begin)) != 0 || !strstr(answer, line))
		fail_msg("wanted %s %d, got %s", verdict, status, answer);
}

static char *request_of(json_t *request)
{
	const char *method = json_get_string(request, "method");
	const char *authority = json_get_string(request, "authority");

	if (strcmp(method, "CONNECT") == 0)
		return mem_printf(
			"CONNECT %s HTTP/1.1\r\n" PROXY_STAGE_CREDENTIALS "\r\n", authority);
	return mem_printf("%s http://%s/ HTTP/1.1\r\nConnection: close\r\n" PROXY_STAGE_CREDENTIALS
			  "\r\n",
		method, authority);
}

/* ---- The cases ---- */

static void open_of(struct proxy_stage *stage, json_t *c)
{
	auto_error struct error err = ERROR_INIT;
	json_t *state = json_object_get(c, "session");
	int64_t open = json_get_int(state, "connections", 0);
	bool expired = json_get_bool(state, "expired", false);
	struct egress_session s = {
		.deadline_ms = clock_boottime_ms() + (expired ? -1 : 600) * 1000,
		/* As many fewer as the case has open. */
		.max_connections =
			(unsigned)(open < SOURCE_CONNECTIONS ? SOURCE_CONNECTIONS - open : 0),
		.dial_timeout_s = 15,
		.bytes_up = (uint64_t)json_get_int(state, "bytes_up", 0),
		.bytes_down = (uint64_t)json_get_int(state, "bytes_down", 0),
	};

	assert_done(proxy_stage_open(stage, json_object_get(c, "grant"), &s, &err), &err);
}

/* Each dial fails, so that a request that is allowed shows every address it may go to. */
static void check_case(struct proxy_stage *stage, json_t *c)
{
	auto_error struct error err = ERROR_INIT;
	json_t *expect = json_object_get(c, "expect");
	json_t *connect_to = json_object_get(expect, "connect_to");
	auto_free char *request = request_of(json_object_get(c, "request"));
	auto_free char *answer = mem_alloc(ANSWER_SIZE);
	const char *verdict = json_get_string(expect, "verdict");

	script = (struct script){.answers = json_object_get(c, "resolved")};
	open_of(stage, c);
	ask(stage, request, answer);
	if (strcmp(verdict, "allow") == 0)
		assert_verdict(answer, "dial_failed", 502);
	else
		assert_verdict(answer, verdict, (int)json_get_int(expect, "status", 0));
	assert_int_equal(script.lookups, json_get_int(expect, "lookups", 0));
	assert_int_equal(script.dials, json_array_size(connect_to));
	for (int i = 0; i < script.dials; i++)
		assert_string_equal(script.dialled[i],
			json_string_value(json_array_get(connect_to, (size_t)i)));
	assert_done(proxy_stage_close(stage, &err), &err);
}

static void test_every_case_of_decide(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct proxy_stage stage;
	char line[65536];
	int n = 0;

	(void)state;
	auto_file FILE *f = fopen(CASES "/net/decide.jsonl", "re");
	assert_non_null(f);
	assert_done(proxy_stage_begin(&stage, &hooks, &err), &err);
	while (fgets(line, sizeof(line), f)) {
		auto_json *c = json_loads(line, 0, NULL);
		print_message("%s\n", json_get_string(c, "name"));
		check_case(&stage, c);
		n++;
	}
	assert_true(n > 0);
	proxy_stage_end(&stage);
}

/* ---- A resolver that lies the second time ---- */

static void test_the_second_answer_is_never_used(void **state)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *c = json_loads(
		"{\"grant\": {\"id\": \"egress_0123456789abcdef01234567\", \"subject\": \"any\", "
		"\"hosts\": [\"rebinds.example\"], \"ports\": [443, 80]}}",
		0, NULL);
	auto_json *answers =
		json_loads("[[\"93.184.216.34\"], [\"127.0.0.1\"], [\"93.184.216.34\", "
			   "\"10.0.0.1\"]]",
			0, NULL);
	auto_free char *answer = mem_alloc(ANSWER_SIZE);
	struct address loopback = {AF_INET, {127, 0, 0, 1}};
	struct endpoint origin = {.port = 0};
	struct proxy_stage stage;
	static const char request[] =
		"CONNECT rebinds.example:443 HTTP/1.1\r\n" PROXY_STAGE_CREDENTIALS "\r\n";

	(void)state;
	auto_fd int listener = egress_owner_listen(&loopback, &origin, &err);
	assert_true(listener >= 0);
	script = (struct script){.answers = answers, .connect_to = origin.port};
	assert_done(proxy_stage_begin(&stage, &hooks, &err), &err);
	open_of(&stage, c);
	auto_fd int fd = proxy_stage_connect(&stage);
	send_all(fd, request);
	assert_true(recv(fd, answer, ANSWER_SIZE, 0) > 0);
	assert_non_null(strstr(answer, "200 Connection established"));
	assert_int_equal(script.lookups, 1);
	assert_int_equal(script.dials, 1);
	assert_string_equal(script.dialled[0], "93.184.216.34");
	/* Asked anew, it lies; and then it mixes. */
	for (int i = 2; i <= 3; i++) {
		ask(&stage, request, answer);
		assert_verdict(answer, "destination_blocked", 403);
		assert_null(strstr(answer, "127.0.0.1"));
		assert_null(strstr(answer, "10.0.0.1"));
		assert_int_equal(script.lookups, i);
		assert_int_equal(script.dials, 1);
	}
	proxy_stage_end(&stage);
}

/* An address that does not answer is passed over, in the order of the answer. */
static void test_the_next_address_is_tried(void **state)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *c = json_loads(
		"{\"grant\": {\"id\": \"egress_0123456789abcdef01234567\", \"subject\": \"any\", "
		"\"hosts\": [\"two.example\"]}}",
		0, NULL);
	auto_json *answers = json_loads("[\"93.184.216.34\", \"2600::1\"]", 0, NULL);
	auto_free char *answer = mem_alloc(ANSWER_SIZE);
	struct proxy_stage stage;

	(void)state;
	script = (struct script){.answers = answers};
	assert_done(proxy_stage_begin(&stage, &hooks, &err), &err);
	open_of(&stage, c);
	ask(&stage,
		"GET http://two.example/ HTTP/1.1\r\n" PROXY_STAGE_CREDENTIALS
		"Connection: close\r\n\r\n",
		answer);
	assert_verdict(answer, "dial_failed", 502);
	assert_int_equal(script.lookups, 1);
	assert_int_equal(script.dials, 2);
	assert_string_equal(script.dialled[1], "2600::1");
	assert_null(strstr(answer, "93.184"));
	proxy_stage_end(&stage);
}

static void test_a_listener_is_removed_with_its_connections(void **state)
{
	auto_error struct error err = ERROR_INIT;
	auto_free char *answer = mem_alloc(ANSWER_SIZE);
	struct proxy_stage stage;

	(void)state;
	assert_done(proxy_stage_begin(&stage, &hooks, &err), &err);
	auto_fd int fd = proxy_stage_connect(&stage);
	send_all(fd, "GET http://");
	ask(&stage, "GET / HTTP/1.1\r\n\r\n", answer);
	assert_verdict(answer, "malformed_request", 400);
	assert_done(egress_owner_remove_listener(&stage.owner, "run", &err), &err);
	assert_true(recv(fd, answer, ANSWER_SIZE, 0) <= 0);
	assert_done(egress_owner_remove_listener(&stage.owner, "run", &err), &err);
	/* The port is still the owner's. */
	assert_done(egress_owner_add_listener(&stage.owner, "run", stage.listener, &err), &err);
	ask(&stage, "GET / HTTP/1.1\r\n\r\n", answer);
	assert_verdict(answer, "malformed_request", 400);
	proxy_stage_end(&stage);
}

/* ---- The wall clock ---- */

enum { HOUR_S = 3600 };
#define SECOND INT64_C(1000000000)

static _Atomic int64_t ahead_ns;

static int64_t stepped(void *data)
{
	(void)data;
	return clock_realtime_ns() + ahead_ns;
}

/* The session lives for so long, its grant for an hour. */
static void open_stepped(struct proxy_stage *stage, int64_t ms)
{
	static const struct proxy_hooks slow = {&script, resolve, dial, stepped};
	auto_error struct error err = ERROR_INIT;
	auto_json *grant =
		json_loads("{\"id\": \"egress_0123456789abcdef01234567\", \"subject\": \"any\", "
			   "\"hosts\": [\"one.example\"], \"methods\": [\"PUT\"]}",
			0, NULL);
	char end[CLOCK_TEXT_SIZE];

	script = (struct script){.answers = NULL};
	ahead_ns = 0;
	clock_format(clock_realtime_ns() + HOUR_S * SECOND, end);
	json_object_set_new(grant, "expires_at", json_string(end));
	struct egress_session s = {.deadline_ms = clock_boottime_ms() + ms,
		.max_connections = 1,
		.dial_timeout_s = 15};
	assert_done(proxy_stage_begin(stage, &slow, &err), &err);
	assert_done(proxy_stage_open(stage, grant, &s, &err), &err);
}

/* `method_not_allowed` while it lives. */
static void assert_asked(struct proxy_stage *stage, const char *verdict, int status)
{
	auto_free char *answer = mem_alloc(ANSWER_SIZE);

	ask(stage, "GET http://one.example/ HTTP/1.1\r\n" PROXY_STAGE_CREDENTIALS "\r\n", answer);
	assert_verdict(answer, verdict, status);
}

static void test_a_deadline_holds_when_the_wall_clock_is_set_back(void **state)
{
	enum { PATIENCE_MS = 60000, PAUSE_MS = 50 };
	auto_error struct error err = ERROR_INIT;
	auto_free char *answer = mem_alloc(ANSWER_SIZE);
	struct proxy_stage stage;
	int64_t until = clock_boottime_ms() + PATIENCE_MS;

	(void)state;
	open_stepped(&stage, 500);
	ahead_ns = -HOUR_S * SECOND;
	do {
		clock_sleep_ms(PAUSE_MS);
		ask(&stage, "GET http://one.example/ HTTP/1.1\r\n" PROXY_STAGE_CREDENTIALS "\r\n",
			answer);
	} while (!strstr(answer, "session_expired") && clock_boottime_ms() < until);
	assert_verdict(answer, "session_expired", 407);
	assert_int_equal(
		egress_owner_renew(&stage.owner, PROXY_STAGE_ID, until + PATIENCE_MS, &err), -1);
	proxy_stage_end(&stage);
}

/* Past its deadline as that would read, and it lives on; past the end of its grant it does not. */
static void test_a_wall_clock_that_is_set_forward(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct proxy_stage stage;
	int64_t deadline = clock_boottime_ms() + 900000;

	(void)state;
	open_stepped(&stage, 600000);
	ahead_ns = (HOUR_S - 60) * SECOND;
	assert_asked(&stage, "method_not_allowed", 403);
	assert_done(egress_owner_renew(&stage.owner, PROXY_STAGE_ID, deadline, &err), &err);
	assert_asked(&stage, "method_not_allowed", 403);
	ahead_ns = (HOUR_S + 1) * SECOND;
	assert_asked(&stage, "session_expired", 407);
	proxy_stage_end(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_case_of_decide),
		cmocka_unit_test(test_the_second_answer_is_never_used),
		cmocka_unit_test(test_the_next_address_is_tried),
		cmocka_unit_test(test_a_listener_is_removed_with_its_connections),
		cmocka_unit_test(test_a_deadline_holds_when_the_wall_clock_is_set_back),
		cmocka_unit_test(test_a_wall_clock_that_is_set_forward),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

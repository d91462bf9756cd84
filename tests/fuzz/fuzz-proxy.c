/*
 * Whole conversations: what a client sends, up to "|", and what the origin answers. A "\n" of the
 * input is written as CRLF, and "@" as the credentials of the session, so that both are found
 * easily. The proxy survives, every answer begins with a head of a known verdict or nothing at all,
 * and the origin hears of no client without credentials.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#include "../unit/egress/proxy-stage.h"
#include "base/json.h"
#include "sys/clock.h"

enum { ROOM = 1 << 17, CLIENT_WAIT_MS = 250000, TRIES = 60 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct proxy_stage stage;
/* What the next connection to an origin will hear; written before the client begins. */
static struct text origin_says;
static bool origin_called;

static size_t resolve(void *data, const char *host, struct address *ret, size_t max)
{
	(void)data, (void)host, (void)max;
	return address_parse(TEXT("93.184.216.34"), ret) ? 1 : 0;
}

/* The whole answer, then the end: what the proxy sends is not read. */
static int dial(void *data, const struct address *a, uint16_t port)
{
	int pair[2];

	(void)data, (void)a, (void)port;
	origin_called = true;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return -1;
	if (origin_says.len > 0 && send(pair[1], origin_says.p, origin_says.len, MSG_NOSIGNAL) < 0)
		assert(errno == EAGAIN);
	shutdown(pair[1], SHUT_WR);
	close(pair[1]);
	return pair[0];
}

static void begin(void)
{
	static const struct proxy_hooks hooks = {NULL, resolve, dial, NULL};
	auto_error struct error err = ERROR_INIT;

	signal(SIGPIPE, SIG_IGN);
	assert(proxy_stage_begin(&stage, &hooks, &err) == 0);
}

static void open_session(void)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *grant = json_loads(
		"{\"id\": \"egress_0123456789abcdef01234567\", \"subject\": \"any\", "
		"\"hosts\": [\"a\"], \"max_bytes_down\": 60000, \"max_bytes_up\": 60000}",
		0, NULL);
	struct egress_session s = {
		.deadline_ms = clock_boottime_ms() + 3600000,
		.max_connections = 64,
		.dial_timeout_s = 15,
	};

	/* An owner gives up after two seconds, which a machine that is busy may need. */
	for (int left = TRIES; proxy_stage_open(&stage, grant, &s, &err) < 0; left--) {
		assert(left > 0);
		(void)!proxy_stage_close(&stage, &err);
	}
}

static void write_out(struct text t, struct str *out)
{
	for (size_t i = 0; i < t.len; i++) {
		if (t.p[i] == '\n')
			str_add_text(out, "\r\n");
		else if (t.p[i] == '@')
			str_add_text(out, PROXY_STAGE_CREDENTIALS);
		else
			str_add_char(out, t.p[i]);
	}
}

static void converse(struct text client, struct str *answer)
{
	auto_fd int fd = proxy_stage_connect(&stage);
	size_t sent = 0;

	assert(fd >= 0);
	while (sent < client.len) {
		ssize_t n = send(fd, client.p + sent, client.len - sent, MSG_NOSIGNAL);
		if (n < 0)
			break;
		sent += (size_t)n;
	}
	shutdown(fd, SHUT_WR);
	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		char *room = str_reserve(answer, 4096);
		if (!room)
			break;
		int ready = poll(&p, 1, CLIENT_WAIT_MS);
		/* libFuzzer has signals of its own. */
		if (ready < 0 && errno == EINTR)
			continue;
		assert(ready == 1);
		ssize_t n = recv(fd, room, 4096, 0);
		if (n <= 0)
			break;
		answer->len += (size_t)n;
	}
}

static void check(struct text answer)
{
	const char *end;

	if (answer.len == 0)
		return;
	assert(text_starts(answer, "HTTP/1.1 "));
	end = memmem(answer.p, answer.len, "\r\n\r\n", 4);
	assert(!end || memmem(answer.p, (size_t)(end - answer.p), "X-Cloop-Egress-Verdict: ", 24));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text t = {(const char *)data, size};
	const char *bar = size > 0 ? memchr(data, '|', size) : NULL;
	struct text client = {t.p, bar ? (size_t)(bar - t.p) : t.len};
	struct text origin = {bar ? bar + 1 : "", bar ? t.len - client.len - 1 : 0};
	AUTO(str) asks = STR_INIT(ROOM);
	AUTO(str) says = STR_INIT(ROOM);
	AUTO(str) answer = STR_INIT(ROOM);
	auto_error struct error err = ERROR_INIT;

	if (!stage.proxy)
		begin();
	write_out(client, &asks);
	write_out(origin, &says);
	origin_says = (struct text){str_text(&says), says.len};
	origin_called = false;
	open_session();
	converse((struct text){str_text(&asks), asks.len}, &answer);
	check((struct text){str_text(&answer), answer.len});
	for (int left = TRIES; proxy_stage_close(&stage, &err) < 0; left--)
		assert(left > 0);
	assert(!origin_called || memmem(str_text(&asks), asks.len, "c2Vzc18wMTIz", 12));
	return 0;
}

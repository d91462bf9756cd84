/*
 * proxy-bench PORT ORIGIN_PORT CREDENTIALS MODE N CONNECTIONS: how fast the HTTP proxy on
 * 127.0.0.1:PORT is (0: none, straight to the origin); CREDENTIALS in base64, or "". The origin is
 * in here, too. requests    N GET requests of 1 KiB on each of the connections, kept where the
 * proxy keeps them connects    N tunnels on each, one after the other, with 4 bytes through them
 * and back stream      N MiB through a tunnel on each latency     N requests on one connection; the
 * 99th percentile Prints `NUMBER UNIT`; asserts nothing.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"

enum { BODY = 1024, PIECE = 1 << 17, HEAD_MAX = 4096, MIB = 1 << 20 };

static int origin_port, proxy_port, rounds;
static const char *credentials;
static double *samples; /* of the latency, in seconds */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int to_port(int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

static bool send_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t done = send(fd, bytes, n, MSG_NOSIGNAL);
		if (done <= 0)
			return false;
		bytes += done;
		n -= (size_t)done;
	}
	return true;
}

/* ---- The origin ---- */

/* "GET": an answer; "PING": its bytes back; "FLOW": MiB until the other end is gone. */
static void *serve(void *data)
{
	static char piece[PIECE];
	int fd = (int)(intptr_t)data;
	char in[HEAD_MAX], out[BODY + 128];
	ssize_t n;

	int len = snprintf(out, sizeof(out), "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", BODY);
	memset(out + len, 'x', BODY);
	while ((n = recv(fd, in, sizeof(in), 0)) > 0) {
		bool good = true;
		if (in[0] == 'F')
			while (send_all(fd, piece, sizeof(piece)))
				;
		else if (in[0] == 'P')
			good = send_all(fd, in, (size_t)n);
		else
			good = send_all(fd, out, (size_t)len + BODY) &&
			       !memmem(in, (size_t)n, "onnection: close", 16);
		if (!good)
			break;
	}
	close(fd);
	return NULL;
}

static void start(void *(*run)(void *), void *data)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, data) != 0)
		die("thread");
	pthread_detach(thread);
}

static void *accept_all(void *data)
{
	int listener = (int)(intptr_t)data, on = 1;

	for (;;) {
		int fd = accept(listener, NULL, NULL);
		if (fd < 0)
			die("accept");
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		start(serve, (void *)(intptr_t)fd);
	}
	return NULL;
}

static void open_origin(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_port = htons((uint16_t)origin_port);
	int on = 1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, 1024) < 0 ||
		getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		die("origin");
	start(accept_all, (void *)(intptr_t)fd);
}

/* ---- Clients ---- */

static size_t request(char *out, size_t size, const char *what)
{
	bool tunnel = strcmp(what, "CONNECT") == 0;
	int n = tunnel ? snprintf(out, size, "CONNECT 127.0.0.1:%d HTTP/1.1\r\n", origin_port)
		: proxy_port
			? snprintf(out, size, "GET http://127.0.0.1:%d/ HTTP/1.1\r\n", origin_port)
			: snprintf(out, size, "GET / HTTP/1.1\r\n");

	n += snprintf(out + n, size - (size_t)n, "Host: 127.0.0.1:%d\r\n", origin_port);
	if (credentials[0])
		n += snprintf(out + n, size - (size_t)n, "Proxy-Authorization: Basic %s\r\n",
			credentials);
	n += snprintf(out + n, size - (size_t)n, "\r\n");
	return (size_t)n;
}

/* A tunnel, or straight. */
static int tunnel(void)
{
	int fd = to_port(proxy_port ? proxy_port : origin_port);
	char text[HEAD_MAX];
	size_t have = 0;

	if (!proxy_port)
		return fd;
	size_t n = request(text, sizeof(text), "CONNECT");
	if (!send_all(fd, text, n))
		die("send");
	while (have < 4 || memcmp(text + have - 4, "\r\n\r\n", 4) != 0) {
		ssize_t got = recv(fd, text + have, 1, 0);
		if (got != 1 || ++have == sizeof(text))
			die("no tunnel");
	}
	if (!memmem(text, have, " 200 ", 5)) {
		fprintf(stderr, "%.*s\n", (int)have, text);
		exit(1);
	}
	return fd;
}

/* Whether the whole answer came; *stays: the connection may be used again. */
static bool read_answer(int fd, bool *stays)
{
	char in[HEAD_MAX + BODY];
	size_t have = 0;
	const char *end = NULL;

	while (!end || have < (size_t)(end - in) + 4 + BODY) {
		ssize_t n = recv(fd, in + have, sizeof(in) - have, 0);
		if (n <= 0)
			return false;
		have += (size_t)n;
		end = memmem(in, have, "\r\n\r\n", 4);
	}
	if (memcmp(in + 8, " 200", 4) != 0) {
		fprintf(stderr, "%.*s\n", (int)have, in);
		exit(1);
	}
	*stays = memcmp(in, "HTTP/1.1", 8) == 0 &&
		 !memmem(in, (size_t)(end - in), "onnection: close", 16);
	return true;
}

static void requests(void)
{
	char text[HEAD_MAX];
	size_t n = request(text, sizeof(text), "GET");
	bool stays = false, kept = true;
	int fd = -1;

	for (int i = 0; i < rounds; i++) {
		double began = now();
		bool again = stays && kept;
		if (!again || !send_all(fd, text, n) || !read_answer(fd, &stays)) {
			if (fd >= 0)
				close(fd);
			fd = to_port(proxy_port ? proxy_port : origin_port);
			if (!send_all(fd, text, n) || !read_answer(fd, &stays))
				die("request");
			/* tinyproxy closes without saying so. */
			kept = kept && !again;
		}
		if (samples)
			samples[i] = now() - began;
	}
	close(fd);
}

static void connects(void)
{
	char back[4];

	for (int i = 0; i < rounds; i++) {
		int fd = tunnel();
		if (!send_all(fd, "PING", 4) || recv(fd, back, 4, MSG_WAITALL) != 4)
			die("ping");
		close(fd);
	}
}

static void stream(void)
{
	int64_t left = (int64_t)rounds * MIB;
	auto_free char *piece = mem_alloc(PIECE);
	int fd = tunnel();

	if (!send_all(fd, "FLOW", 4))
		die("send");
	while (left > 0) {
		ssize_t n = recv(fd, piece, PIECE, 0);
		if (n <= 0)
			die("stream");
		left -= n;
	}
	close(fd);
}

static const struct mode {
	const char *name, *unit;
	void (*run)(void);
} modes[] = {
	{"requests", "requests/s", requests},
	{"connects", "connects/s", connects},
	{"stream", "MiB/s", stream},
	{"latency", "ms", requests},
};

static void *client(void *data)
{
	const struct mode *m = data;

	m->run();
	return NULL;
}

static int by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const struct mode *m, int connections)
{
	auto_free pthread_t *threads = mem_alloc((size_t)connections * sizeof(*threads));
	double began = now();

	for (int i = 0; i < connections; i++)
		if (pthread_create(&threads[i], NULL, client, (void *)(uintptr_t)m) != 0)
			die("thread");
	for (int i = 0; i < connections; i++)
		pthread_join(threads[i], NULL);
	double took = now() - began;
	if (!samples) {
		printf("%.1f %s\n", (double)rounds * connections / took, m->unit);
		return;
	}
	qsort(samples, (size_t)rounds, sizeof(*samples), by_time);
	printf("%.3f %s\n", samples[rounds / 100 * 99] * 1e3, m->unit);
}

static int number(const char *text)
{
	uint64_t n;

	if (num_parse(text_of(text), 1000000, &n) != NUM_OK)
		die(text);
	return (int)n;
}

int main(int argc, char **argv)
{
	if (argc != 7) {
		fputs("proxy-bench PORT ORIGIN_PORT CREDENTIALS MODE N CONNECTIONS\n", stderr);
		return 2;
	}
	proxy_port = number(argv[1]);
	origin_port = number(argv[2]);
	credentials = argv[3];
	const char *mode = argv[4];
	rounds = number(argv[5]);
	open_origin();
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (strcmp(modes[i].name, mode) != 0)
			continue;
		if (strcmp(mode, "latency") == 0)
			samples = mem_alloc((size_t)rounds * sizeof(*samples));
		measure(&modes[i], number(argv[6]));
		return 0;
	}
	die("no such mode");
	return 2;
}

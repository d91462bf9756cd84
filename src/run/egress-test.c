#include "run/egress-test.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "egress/owner.h"
#include "egress/socket-address.h"
#include "run/egress-answer.h"
#include "run/egress-sessions.h"
#include "run/run-egress.h"
#include "store/query.h"
#include "sys/clock.h"
#include "sys/program.h"
#include "vault/clocks-now.h"

enum { ANSWER_MAX = 65536 };
#define LISTENER "test"

/* ---- The grant ---- */

struct choice {
	struct run_egress *ret;
	int read;
	struct error *err;
};

static void take(void *data, const struct store_egress_grant *g)
{
	struct choice *c = data;
	struct run_egress *e = c->ret;
	struct two_clocks now = clocks_now();

	e->held = mem_grow(e->held, 1, sizeof(*e->held));
	e->held[0] = (struct run_egress_grant){.expires_at = egress_grants_end(g, &now)};
	e->n = 1;
	c->read = egress_grants_read(g, &e->held[0].grant, c->err);
}

static int make_session(const struct egress_test *t, struct run_egress *e, struct error *err)
{
	struct choice c = {.ret = e, .err = err};
	int r = store_egress_grant_show(t->store, t->grant, take, &c, err);

	if (r > 0)
		return error_set(err, ERROR_EGRESS_GRANT_NOT_FOUND, "there is no grant %s",
			quoted_string(t->grant));
	return r < 0 || c.read < 0 ? -1 : run_egress_make(e, t->settings, t->grant, err);
}

static int put_on_record(const struct egress_test *t, struct run_egress *e, struct error *err)
{
	AUTO(query_transaction) tr = QUERY_TRANSACTION_INIT;
	struct two_clocks now = clocks_now();
	struct egress_sessions_who who = {e->session.id, "", ""};

	return query_begin(t->store, &tr, err) < 0 ||
			       egress_sessions_close_lost_tests(t->store, &now, err) < 0 ||
			       egress_sessions_open(t->store, &e->session, &who, &now, err) < 0
		       ? -1
		       : query_commit(&tr, err);
}

static int close_on_record(const struct egress_test *t, const char *session, struct error *err)
{
	AUTO(query_transaction) tr = QUERY_TRANSACTION_INIT;

	return query_begin(t->store, &tr, err) < 0 ||
			       egress_sessions_close(t->store, session, "tested", err) < 0
		       ? -1
		       : query_commit(&tr, err);
}

/* ---- The request ---- */

/* HOST[:PORT] with a port, of https://HOST[:PORT]/… */
static char *tunnel_target(struct text url)
{
	struct text rest = text_after(url, strlen("https://"));
	size_t n = 0;

	while (n < rest.len && !strchr("/?#", rest.p[n]))
		n++;
	const char *bracket = memchr(rest.p, ']', n);
	const char *from = bracket ? bracket : rest.p;
	bool port = memchr(from, ':', n - (size_t)(from - rest.p)) != NULL;
	return mem_printf("%.*s%s", (int)n, rest.p, port ? "" : ":443");
}

static void make_request(
	const struct egress_test *t, const struct egress_session *s, struct secret *ret)
{
	struct text url = text_of(t->url);
	bool tunnel = text_starts_nocase(url, "https://");
	auto_free char *target = tunnel ? tunnel_target(url) : mem_strdup(t->url);
	struct secret pair, credentials;

	SECRET_CONCAT(&pair, text_of(s->id), TEXT(":"), secret_text(&s->token));
	base64_encode(secret_text(&pair), &credentials);
	SECRET_CONCAT(ret, text_of(tunnel ? "CONNECT " : "GET "), text_of(target),
		TEXT(" HTTP/1.1\r\nHost: test\r\nConnection: close\r\n"
		     "Proxy-Authorization: Basic "),
		secret_text(&credentials), TEXT("\r\n\r\n"));
	secret_done(&pair);
	secret_done(&credentials);
}

/* The answer as far as it matters: its head, and of a refusal the words behind it. */
static int read_answer(int fd, int64_t until, struct str *ret, struct error *err)
{
	char bytes[4096];

	for (;;) {
		int64_t left = until - clock_boottime_ms();
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int ready = left > 0 ? poll(&p, 1, (int)left) : 0;
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return error_set(err, ERROR_EGRESS_PROXY_FAILED, "no answer in time");
		ssize_t n = recv(fd, bytes, sizeof(bytes), 0);
		if (n <= 0 || str_add(ret, bytes, (size_t)n) < 0)
			return 0;
		struct egress_answer a = egress_answer_read((struct text){str_text(ret), ret->len});
		if (text_is(a.verdict, "allow"))
			return 0;
	}
}

static int ask(const struct egress_test *t, const struct endpoint *at,
	const struct egress_session *s, struct str *ret, struct error *err)
{
	struct sockaddr_storage to;
	struct secret request;
	socklen_t len = socket_address_make(&at->address, at->port, &to);

	auto_fd int fd = socket(at->address.family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, len) < 0)
		return error_set_errno(err, ERROR_EGRESS_PROXY_FAILED, errno, "asking the proxy");
	make_request(t, s, &request);
	ssize_t sent = send(fd, request.p, request.len, MSG_NOSIGNAL);
	secret_done(&request);
	if (sent < 0)
		return error_set_errno(err, ERROR_EGRESS_PROXY_FAILED, errno, "asking the proxy");
	return read_answer(fd, clock_boottime_ms() + t->timeout_ms, ret, err);
}

static json_t *judge(
	const struct egress_test *t, const struct egress_session *s, struct text answer)
{
	struct egress_answer a = egress_answer_read(answer);
	bool allowed = text_is(a.verdict, "allow");

	return json_pack("{s:o, s:s, s:s, s:o, s:o, s:b, s:o}", "url", json_from_string(t->url),
		"grant", t->grant, "session", s->id, "verdict", json_from_bytes(a.verdict),
		"status", json_from_bytes(a.status), "allowed", allowed, "reason",
		allowed || !a.whole ? json_null() : json_from_bytes(a.body));
}

/* ---- All of it ---- */

static int through_proxy(const struct egress_test *t, const struct egress_session *s, json_t **ret,
	struct error *err)
{
	AUTO(str) answer = STR_INIT(ANSWER_MAX);
	AUTO(egress_owner) owner = EGRESS_OWNER_INIT;
	auto_free char *program = program_path("cloop-egress");
	struct address loopback;
	struct egress_owner_facts facts = {.subject = s->grant.subject.text};
	struct egress_counters ignored;

	(void)address_parse(TEXT("127.0.0.1"), &loopback);
	struct endpoint at = {.address = loopback};
	auto_fd int fd = egress_owner_listen(&loopback, &at, err);
	if (fd < 0 || egress_owner_start(program, &owner, err) < 0 ||
		egress_owner_add_listener(&owner, LISTENER, fd, err) < 0 ||
		egress_owner_open(&owner, s, LISTENER, &facts, err) < 0 ||
		ask(t, &at, s, &answer, err) < 0)
		return -1;
	*ret = judge(t, s, (struct text){str_text(&answer), answer.len});
	return egress_owner_close(&owner, s->id, "tested", &ignored, err) < 0 ? -1 : 0;
}

int egress_test_run(const struct egress_test *t, json_t **ret, struct error *err)
{
	AUTO(run_egress) e = RUN_EGRESS_INIT;
	auto_error struct error second = ERROR_INIT;

	if (make_session(t, &e, err) < 0 || put_on_record(t, &e, err) < 0)
		return -1;
	int r = through_proxy(t, &e.session, ret, err);
	if (close_on_record(t, e.session.id, &second) == 0)
		return r;
	if (r == 0)
		error_move(err, &second);
	return -1;
}

/*
 * The multi interface carries one transfer at a time, since it can wait for a descriptor of ours as
 * well; it keeps the connection for the next request to the same host. curl's own error text is
 * shown for TLS only, where it names what is wrong with the certificate; elsewhere it could hold
 * the proxy's credentials.
 */
#include "image/registry/http.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/secret.h"
#include "base/special-address.h"
#include "image/registry/certificates.h"
#include "image/registry/curl-library.h"
#include "image/registry/proxy.h"
#include "sys/clock.h"
#include "sys/env.h"

enum { POLL_MS = 1000, CLOCK_SLACK_MS = 100 };
/* More of one name than fit: none that is judged is left out. */
enum { HEADER_COUNT_MAX = HTTP_HEADERS_MAX / 16 };

struct http_client {
	const struct curl_library *curl;
	CURLM *multi;
	CURL *easy; /* of the transfer that runs */
	int64_t deadline_ms;
	int cancel_fd;
	bool unset; /* an option that this libcurl does not know */
};

/* What the callbacks of one transfer know. */
struct transfer {
	struct http_client *client;
	const struct http_request *request;
	struct http_answer *answer;
	bool proxied;
	size_t headers;
	bool headers_over, body_over, body_cut;
	enum special_class blocked; /* SPECIAL_NONE: nothing was */
	char words[CURL_ERROR_SIZE];
};

void http_answer_done(struct http_answer *a)
{
	free(a->content_type);
	free(a->location);
	strv_done(&a->digests);
	strv_done(&a->challenges);
	if (a->body.data)
		explicit_bzero(a->body.data, a->body.cap);
	str_done(&a->body);
	*a = (struct http_answer){.status = 0};
}

/* ---- The client ---- */

struct http_client *http_client_new(int64_t deadline_ms, int cancel_fd, struct error *err)
{
	const struct curl_library *curl = curl_library(err);

	if (!curl)
		return NULL;
	struct http_client *c = mem_alloc(sizeof(*c));
	*c = (struct http_client){.curl = curl,
		.multi = curl->multi_init(),
		.deadline_ms = deadline_ms,
		.cancel_fd = cancel_fd};
	if (!c->multi)
		abort(); /* out of memory */
	return c;
}

void http_client_free(struct http_client *c)
{
	if (!c)
		return;
	c->curl->multi_cleanup(c->multi);
	free(c);
}

static int timed_out(struct error *err)
{
	return error_set(err, ERROR_REGISTRY_TIMEOUT, "the answer took longer than 15 s in all");
}

static int cancelled(struct error *err)
{
	return error_set(err, ERROR_START_CANCELLED, "cancelled while the registry was asked");
}

static bool is_cancelled(const struct http_client *c)
{
	struct pollfd p = {.fd = c->cancel_fd, .events = POLLIN};

	return c->cancel_fd >= 0 && poll(&p, 1, 0) > 0;
}

int http_pause(struct http_client *c, int ms, struct error *err)
{
	struct pollfd p = {.fd = c->cancel_fd, .events = POLLIN};
	int64_t end = clock_boottime_ms() + ms, left = ms;

	while (left > 0) {
		int n = poll(&p, 1, (int)left);
		if (n > 0)
			return cancelled(err);
		left = end - clock_boottime_ms();
	}
	return clock_boottime_ms() < c->deadline_ms ? 0 : timed_out(err);
}

/* ---- Addresses ---- */

static bool may_connect(enum http_addresses addresses, enum special_class class)
{
	switch (addresses) {
	case HTTP_PUBLIC:
		return class == SPECIAL_NONE;
	case HTTP_LOOPBACK:
		return class == SPECIAL_LOOPBACK;
	case HTTP_NO_METADATA:
		return class != SPECIAL_METADATA && class != SPECIAL_LINK_LOCAL;
	case HTTP_ANY:
		break;
	}
	return true;
}

static int blocked(const struct http_request *r, enum special_class class, struct error *err)
{
	auto_free char *authority = url_authority(r->url);

	if (class == SPECIAL_NONE)
		return error_set(err, ERROR_REGISTRY_ADDRESS_BLOCKED,
			"%s, which is asked without TLS, is at an address outside this machine",
			quoted_string(authority));
	return error_set(err, ERROR_REGISTRY_ADDRESS_BLOCKED,
		"%s is at a special-purpose address (%s)", quoted_string(authority),
		special_class_text(class));
}

/* A host that is an address is judged as text, too: a proxy would hide it. */
static int judge_literal(const struct http_request *r, struct error *err)
{
	enum special_class class;

	if (!special_address_literal(text_of(r->url->host), &class))
		return 0;
	return may_connect(r->addresses, class) ? 0 : blocked(r, class, err);
}

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *a)
{
	struct transfer *t = context;
	const void *bytes = a->family == AF_INET6
				    ? (const void *)&((struct sockaddr_in6 *)&a->addr)->sin6_addr
				    : (const void *)&((struct sockaddr_in *)&a->addr)->sin_addr;
	enum special_class class = special_address_class(a->family, bytes);

	(void)purpose;
	if (!t->proxied && !may_connect(t->request->addresses, class)) {
		t->blocked = class == SPECIAL_NONE ? SPECIAL_CLASS_COUNT : class;
		return CURL_SOCKET_BAD;
	}
	t->answer->special |= !t->proxied && class != SPECIAL_NONE;
	return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* ---- Receiving ---- */

static size_t take_header(char *p, size_t size, size_t n, void *context)
{
	struct transfer *t = context;

	(void)p;
	t->headers += size * n;
	t->headers_over = t->headers > HTTP_HEADERS_MAX;
	return t->headers_over ? 0 : size * n;
}

static size_t take_body(char *p, size_t size, size_t n, void *context)
{
	struct transfer *t = context;
	struct str *body = &t->answer->body;
	size_t len = size * n;
	long status = 0;

	t->client->curl->easy_getinfo(t->client->easy, CURLINFO_RESPONSE_CODE, &status);
	body->max = status == 200 ? t->request->body_max : HTTP_ERROR_BODY_MAX;
	if (len > body->max - body->len) {
		t->body_over = status == 200;
		t->body_cut = status != 200;
		if (t->body_cut)
			(void)str_add(body, p, body->max - body->len);
		return 0;
	}
	if (t->request->digest)
		body_digest_add(t->request->digest, p, len);
	return str_add(body, p, len) == 0 ? len : 0;
}

/* ---- Sending ---- */

#define SET(option, value) (c->unset |= c->curl->easy_setopt(c->easy, option, value) != CURLE_OK)

static void set_method(struct http_client *c, const struct http_request *r)
{
	switch (r->method) {
	case HTTP_HEAD:
		SET(CURLOPT_NOBODY, 1L);
		break;
	case HTTP_GET:
		SET(CURLOPT_HTTPGET, 1L);
		break;
	case HTTP_POST:
		SET(CURLOPT_POST, 1L);
		SET(CURLOPT_POSTFIELDS, r->form);
		SET(CURLOPT_POSTFIELDSIZE, (long)strlen(r->form));
		break;
	}
}

static struct curl_slist *append(struct http_client *c, struct curl_slist *list, const char *line)
{
	struct curl_slist *longer = c->curl->slist_append(list, line);

	if (!longer)
		abort(); /* out of memory */
	return longer;
}

static struct curl_slist *set_headers(struct http_client *c, const struct http_request *r)
{
	struct curl_slist *list = append(c, NULL, "Accept-Encoding: identity");

	list = append(c, list, "Expect:");
	if (r->accept) {
		auto_free char *line = mem_printf("Accept: %s", r->accept);
		list = append(c, list, line);
	}
	if (r->authorization) {
		AUTO(secret) line = {.p = NULL};
		SECRET_CONCAT(&line, TEXT("Authorization: "), text_of(r->authorization));
		list = append(c, list, line.p);
	}
	SET(CURLOPT_HTTPHEADER, list);
	SET(CURLOPT_USERAGENT, "cloop/" CLOOP_VERSION);
	return list;
}

/* The operator's proxy for this host; "" = none. */
static const char *proxy_of(const struct url *u)
{
	const char *proxy = env_get("https_proxy"), *no_proxy = env_get("no_proxy");

	if (!proxy)
		proxy = env_get("HTTPS_PROXY");
	if (!no_proxy)
		no_proxy = env_get("NO_PROXY");
	return !u->https || !proxy || proxy_bypassed(no_proxy, u) ? "" : proxy;
}

static int set_tls(struct http_client *c, const struct url *u, struct error *err)
{
	AUTO(str) pem = CERTIFICATES_INIT;
	char *bundle = NULL;

	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	c->curl->easy_getinfo(c->easy, CURLINFO_CAINFO, &bundle);
	if (certificates_read(u, bundle, &pem, err) < 0)
		return -1;
	if (pem.len > 0) {
		struct curl_blob blob = {pem.data, pem.len, CURL_BLOB_COPY};
		SET(CURLOPT_CAINFO_BLOB, &blob);
	}
	return 0;
}

static void set_connection(struct transfer *t, const char *url, int64_t left)
{
	struct http_client *c = t->client;
	const char *proxy = proxy_of(t->request->url);

	t->proxied = *proxy != '\0';
	SET(CURLOPT_URL, url);
	SET(CURLOPT_PROTOCOLS_STR, t->request->url->https ? "https" : "http");
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(CURLOPT_PROXY, proxy);
	SET(CURLOPT_NOPROXY, ""); /* judged above */
	SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(CURLOPT_QUICK_EXIT, 1L); /* a resolver that hangs is not waited for */
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)HTTP_CONNECT_MS);
	SET(CURLOPT_TIMEOUT_MS, (long)left);
	SET(CURLOPT_ERRORBUFFER, t->words);
	SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
	SET(CURLOPT_OPENSOCKETDATA, t);
	SET(CURLOPT_HEADERFUNCTION, take_header);
	SET(CURLOPT_HEADERDATA, t);
	SET(CURLOPT_WRITEFUNCTION, take_body);
	SET(CURLOPT_WRITEDATA, t);
}

/* *ret: how the transfer ended. -1: start_cancelled. */
static int run(struct http_client *c, CURLcode *ret, struct error *err)
{
	struct curl_waitfd extra = {.fd = c->cancel_fd, .events = CURL_WAIT_POLLIN};
	int running = 1, left;

	while (running > 0) {
		if (c->curl->multi_perform(c->multi, &running) != CURLM_OK)
			abort(); /* out of memory, or misused */
		if (is_cancelled(c))
			return cancelled(err);
		if (running > 0)
			c->curl->multi_poll(
				c->multi, &extra, c->cancel_fd >= 0 ? 1 : 0, POLL_MS, NULL);
	}
	*ret = CURLE_RECV_ERROR;
	for (CURLMsg *m; (m = c->curl->multi_info_read(c->multi, &left));)
		if (m->msg == CURLMSG_DONE)
			*ret = m->data.result;
	return 0;
}

/* ---- What came ---- */

static bool is_tls(CURLcode code)
{
	switch (code) {
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CRL_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_ENGINE_INITFAILED:
	case CURLE_SSL_INVALIDCERTSTATUS:
		return true;
	default:
		return false;
	}
}

static bool is_no_http(CURLcode code)
{
	return code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_UNSUPPORTED_PROTOCOL ||
	       code == CURLE_HTTP2 || code == CURLE_BAD_CONTENT_ENCODING ||
	       code == CURLE_WRITE_ERROR;
}

static int explain_timeout(const struct transfer *t, struct error *err)
{
	if (clock_boottime_ms() + CLOCK_SLACK_MS >= t->client->deadline_ms)
		return timed_out(err);
	return error_set(
		err, ERROR_REGISTRY_TIMEOUT, "no connection within %d s", HTTP_CONNECT_MS / 1000);
}

static int explain(const struct transfer *t, CURLcode code, struct error *err)
{
	const struct curl_library *curl = t->client->curl;

	if (t->headers_over)
		return error_set(err, ERROR_REGISTRY_BAD_ANSWER,
			"the answer has more than %d bytes of headers", HTTP_HEADERS_MAX);
	if (t->body_over)
		return error_set(err, ERROR_REGISTRY_BAD_ANSWER,
			"the answer has more than %zu bytes", t->request->body_max);
	if (t->blocked != SPECIAL_NONE)
		return blocked(t->request,
			t->blocked == SPECIAL_CLASS_COUNT ? SPECIAL_NONE : t->blocked, err);
	if (code == CURLE_OPERATION_TIMEDOUT)
		return explain_timeout(t, err);
	if (code == CURLE_BAD_FUNCTION_ARGUMENT) /* its word for a header that is none */
		return error_set(
			err, ERROR_REGISTRY_BAD_ANSWER, "a header of the answer is malformed");
	if (is_tls(code)) {
		AUTO(str) words = STR_INIT(5 * CURL_ERROR_SIZE);
		text_quote(&words, text_of(t->words[0] ? t->words : curl->easy_strerror(code)),
			CURL_ERROR_SIZE);
		return error_set(err, ERROR_REGISTRY_TLS, "TLS failed: %s", str_text(&words));
	}
	return error_set(err,
		is_no_http(code) ? ERROR_REGISTRY_BAD_ANSWER : ERROR_REGISTRY_UNREACHABLE, "%s",
		curl->easy_strerror(code));
}

/* Every header of that name, in the final answer: neither interim ones nor trailers. */
static void collect(struct http_client *c, const char *name, struct strv *ret)
{
	struct curl_header *h;

	for (size_t i = 0;
		c->curl->easy_header(c->easy, name, i, CURLH_HEADER, -1, &h) == CURLHE_OK; i++)
		(void)strv_add(ret, h->value);
}

/* The header that came once, or NULL. */
static char *collect_one(struct http_client *c, const char *name)
{
	AUTO(strv) all = STRV_INIT(HEADER_COUNT_MAX);

	collect(c, name, &all);
	return all.n == 1 ? mem_strdup(all.v[0]) : NULL;
}

static void read_headers(struct http_client *c, struct http_answer *a)
{
	AUTO(strv) encodings = STRV_INIT(HEADER_COUNT_MAX);
	AUTO(strv) links = STRV_INIT(HEADER_COUNT_MAX);

	c->curl->easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &a->status);
	a->content_type = collect_one(c, "Content-Type");
	a->location = collect_one(c, "Location");
	a->digests = STRV_INIT(HEADER_COUNT_MAX);
	collect(c, "Docker-Content-Digest", &a->digests);
	a->challenges = STRV_INIT(HEADER_COUNT_MAX);
	collect(c, "WWW-Authenticate", &a->challenges);
	collect(c, "Content-Encoding", &encodings);
	strv_foreach (e, &encodings)
		a->encoded |= !text_is_nocase(text_of(*e), "identity");
	collect(c, "Link", &links);
	a->paged = links.n > 0;
}

/* An option that is not taken is a rule that would not hold. */
static int set_up(struct transfer *t, const char *url, int64_t left, struct error *err)
{
	struct http_client *c = t->client;

	set_connection(t, url, left);
	set_method(c, t->request);
	if (t->request->url->https && set_tls(c, t->request->url, err) < 0)
		return -1;
	if (!c->unset)
		return 0;
	error_set(err, ERROR_REGISTRY_UNREACHABLE, "this libcurl lacks an option");
	return error_set_remedy(err, "install libcurl 7.87 or newer, built with OpenSSL");
}

static int perform(struct transfer *t, struct error *err)
{
	struct http_client *c = t->client;
	CURLcode code = CURLE_OK;

	if (c->curl->multi_add_handle(c->multi, c->easy) != CURLM_OK)
		abort(); /* out of memory, or misused */
	int ended = run(c, &code, err);
	if (ended == 0 && (code == CURLE_OK || t->body_cut))
		read_headers(c, t->answer);
	else if (ended == 0)
		ended = explain(t, code, err);
	c->curl->multi_remove_handle(c->multi, c->easy);
	return ended;
}

/*
 * A handle of its own for each transfer (the connections are the multi handle's): libcurl 7.88
 * keeps a pointer to the last header across easy_reset(), and an answer whose first header begins
 * with a blank is joined to the freed one.
 */
static int transfer(struct transfer *t, struct error *err)
{
	struct http_client *c = t->client;
	auto_free char *url = url_render(t->request->url);
	int64_t left = c->deadline_ms - clock_boottime_ms();

	if (left <= 0)
		return timed_out(err);
	c->easy = c->curl->easy_init();
	if (!c->easy)
		abort(); /* out of memory */
	int r = set_up(t, url, left, err);
	if (r == 0) {
		struct curl_slist *headers = set_headers(c, t->request);
		r = perform(t, err);
		c->curl->slist_free_all(headers);
	}
	c->curl->easy_cleanup(c->easy);
	c->easy = NULL;
	return r;
}

int http_perform(struct http_client *c, const struct http_request *r, struct http_answer *ret,
	struct error *err)
{
	AUTO(http_answer) answer = {.body = STR_INIT(HTTP_ERROR_BODY_MAX)};
	struct transfer t = {.client = c, .request = r, .answer = &answer};

	if (judge_literal(r, err) < 0)
		return -1;
	if (r->digest)
		body_digest_reset(r->digest);
	if (r->secret) {
		/* Never to be moved by growing: what it leaves would not be wiped. */
		answer.body.max = r->body_max;
		if (!str_reserve(&answer.body, r->body_max))
			abort(); /* the maximum was just set */
	}
	if (transfer(&t, err) < 0)
		return -1;
	*ret = answer;
	answer = (struct http_answer){.status = 0};
	return 0;
}

/*
 * A registry on loopback that answers as the input says. Input: a byte for what is asked, then
 * answers with "|" between them, one a connection; a line of a head ends with "\n", "@p" is the
 * port, "@0" … "@9" the digest of that answer's body (a later one's, or in a head its own). A
 * digest is what was asked for, the requests stay within their bound, and no error says the login.
 */
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "image/logins.h"
#include "image/registry/registry.h"

#define PASSWORD "hunter2-hunter2"

enum { ANSWERS_MAX = 10, ROOM = 1 << 18, REQUEST_MAX = 1 << 16, REQUESTS_MAX = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct answer {
	struct str bytes;
	size_t head; /* of it */
	char digest[sizeof("sha256:") + SHA256_HEX_SIZE];
};

static struct answer answers[ANSWERS_MAX];
static size_t n_answers;
static atomic_uint n_requests;
static int listener = -1;
static char port[8];

/* ---- The server; it sleeps in accept() while the input is made ---- */

static void read_request(int fd)
{
	char bytes[REQUEST_MAX];
	size_t n = 0;
	ssize_t got;

	while (n < sizeof(bytes) && (got = recv(fd, bytes + n, sizeof(bytes) - n, 0)) > 0) {
		n += (size_t)got;
		if (memmem(bytes, n, "\r\n\r\n", 4))
			return;
	}
}

static void *serve(void *data)
{
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			return data;
		read_request(fd);
		unsigned i = n_requests++;
		if (i < n_answers)
			(void)!send(fd, answers[i].bytes.data, answers[i].bytes.len, MSG_NOSIGNAL);
		shutdown(fd, SHUT_WR);
		close(fd);
	}
}

static void begin(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(at);
	pthread_t thread;

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert(bind(listener, (struct sockaddr *)&at, len) == 0 && listen(listener, 16) == 0);
	assert(getsockname(listener, (struct sockaddr *)&at, &len) == 0);
	snprintf(port, sizeof(port), "%u", (unsigned)ntohs(at.sin_port));
	assert(pthread_create(&thread, NULL, serve, NULL) == 0);
}

/* ---- The input ---- */

static void write_out(struct text t, size_t least, bool head, struct str *out)
{
	for (size_t i = 0; i < t.len; i++) {
		char next = t.p[i] == '@' && i + 1 < t.len ? t.p[i + 1] : '\0';
		size_t number = ascii_digit(next) ? (size_t)(next - '0') : ANSWERS_MAX;
		if (next == 'p')
			str_add_text(out, port);
		else if (number >= least && number < n_answers)
			str_add_text(out, answers[number].digest);
		else if (head && t.p[i] == '\n')
			str_add_text(out, "\r\n");
		else
			str_add_char(out, t.p[i]);
		i += next == 'p' || (number >= least && number < n_answers);
	}
}

/* Last first: what refers to a later body has its digest. */
static void make_answer(struct text t, size_t i)
{
	const char *end = t.len ? memmem(t.p, t.len, "\n\n", 2) : NULL;
	size_t head = end ? (size_t)(end - t.p) + 2 : t.len;
	AUTO(str) body = STR_INIT(ROOM);
	char hex[SHA256_HEX_SIZE];

	write_out(text_after(t, head), i + 1, false, &body);
	sha256_hex((struct text){str_text(&body), body.len}, hex);
	snprintf(answers[i].digest, sizeof(answers[i].digest), "sha256:%s", hex);
	str_reset(&answers[i].bytes);
	answers[i].bytes.max = ROOM;
	write_out((struct text){t.p, head}, i, true, &answers[i].bytes);
	str_add(&answers[i].bytes, str_text(&body), body.len);
}

static void make_answers(struct text rest)
{
	struct text parts[ANSWERS_MAX];

	for (n_answers = 0; n_answers < ANSWERS_MAX && text_split(&rest, '|', &parts[n_answers]);)
		n_answers++;
	for (size_t i = n_answers; i-- > 0;)
		make_answer(parts[i], i);
	n_requests = 0;
}

/* The server is at fault: the client pauses for a second, which no input is worth. */
static bool is_slow(struct text input)
{
	static const char *const lines[] = {"HTTP/1.0 5", "HTTP/1.1 5", "HTTP/2 5", "HTTP/3 5"};

	for (; input.len > 0; input = text_after(input, 1))
		for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
			if (text_starts_nocase(input, lines[i]))
				return true;
	return false;
}

/* ---- Questions ---- */

static const enum error_code codes[] = {ERROR_REGISTRY_UNAUTHORIZED, ERROR_TAG_NOT_FOUND,
	ERROR_REGISTRY_RATE_LIMITED, ERROR_REGISTRY_REDIRECT_REFUSED,
	ERROR_REGISTRY_ADDRESS_BLOCKED, ERROR_UNSUPPORTED_MANIFEST, ERROR_DIGEST_MISMATCH,
	ERROR_REGISTRY_BAD_ANSWER, ERROR_REGISTRY_SERVER_ERROR, ERROR_REGISTRY_UNREACHABLE,
	ERROR_REGISTRY_TIMEOUT, ERROR_REGISTRY_TLS};

static void check_error(const struct error *err, struct text input)
{
	bool known = false;

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		known |= error_is(err, codes[i]);
	assert(known && !text_has_control(text_of(err->message)));
	assert(text_has(input, "hunter2") || !strstr(err->message, "hunter2"));
}

static void resolve(const struct registry_question *q, struct text input)
{
	auto_error struct error err = ERROR_INIT;
	struct registry_answer a;

	if (registry_resolve(q, &a, &err) < 0) {
		check_error(&err, input);
	} else {
		assert(image_digest_valid(text_of(a.digest)) && a.media_type);
		assert(!*q->ref->digest || strcmp(a.digest, q->ref->digest) == 0);
	}
	assert(n_requests <= REQUESTS_MAX);
}

static void ask(unsigned what, const struct registry_question *q, struct text input)
{
	auto_error struct error err = ERROR_INIT;
	enum provenance_signature found = PROVENANCE_SIGNATURE_COUNT;
	auto_free char *label = NULL;

	if (what < 2) {
		resolve(q, input);
	} else if (what == 2) {
		int r = registry_signature(q, answers[0].digest, &found, &err);
		assert(r >= 0 &&
			(r == REGISTRY_UNKNOWN) == (found == PROVENANCE_SIGNATURE_UNKNOWN));
		if (r > 0)
			check_error(&err, input);
	} else if (registry_label(q, answers[0].digest, &label, &err) < 0) {
		check_error(&err, input);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(image_policy) policy = {.insecure_registries.items = STRV_INIT(1)};
	struct login_found login = {.login = {.key = NULL}};
	struct text input = {(const char *)data, size};
	struct image_reference ref;
	char name[64];

	if (listener < 0)
		begin();
	if (size < 2 || is_slow(input))
		return 0;
	unsigned what = data[0] % 4;
	make_answers(text_after(input, 1));
	snprintf(name, sizeof(name), "127.0.0.1:%s/a/b:1", port);
	int parsed = image_reference_parse(text_of(name), &ref, &err);
	assert(parsed == 0 && strv_add(&policy.insecure_registries.items, ref.registry) == 0);
	if (what == 1)
		memcpy(ref.digest, answers[0].digest, strlen(answers[0].digest) + 1);
	if (data[0] & 4) {
		login.login.key = mem_strdup(ref.registry);
		login.login.user = mem_strdup("user");
		SECRET_CONCAT(&login.login.password, TEXT(PASSWORD));
	}
	ask(what,
		&(struct registry_question){
			.policy = &policy, .ref = &ref, .login = &login, .cancel_fd = -1},
		input);
	auth_login_done(&login.login);
	return 0;
}

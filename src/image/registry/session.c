/*
 * Who gets which credential. The login goes to the registry itself (Basic), or to the realm that
 * the registry itself names (Bearer); the token only to the registry. A redirect to another host or
 * port loses both for the rest of its chain, and what answers 401 over there is never answered.
 */
#include "image/registry/session.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/special-address.h"
#include "image/registry/token.h"
#include "sys/clock.h"

enum { AGAIN_MS = 500, WORDS_MAX = 300, ECHO_MIN = 8, PING_BODY_MAX = 64 << 10 };

#define HUB "docker.io"
#define HUB_API "registry-1.docker.io"

void session_done(struct session *s)
{
	secret_done(&s->authorization);
	url_done(&s->api);
	http_client_free(s->http);
	s->http = NULL;
}

/* ---- Which registry ---- */

static bool is_insecure(const struct registry_question *q)
{
	return strv_has(&q->policy->insecure_registries.items, q->ref->registry);
}

int session_open(const struct registry_question *q, struct session *ret, struct error *err)
{
	const char *registry = q->ref->registry;
	bool insecure = is_insecure(q);

	if (!*registry)
		return error_set(err, ERROR_REGISTRY_UNNAMED, "%s names no registry to be asked",
			quoted_string(q->ref->repository));
	struct http_client *http =
		http_client_new(clock_boottime_ms() + SESSION_MS, q->cancel_fd, err);
	if (!http)
		return -1;
	*ret = (struct session){.question = q, .http = http};
	url_of_registry(!insecure, strcmp(registry, HUB) == 0 ? HUB_API : registry, "/", &ret->api);
	ret->special_is_fine = insecure || q->origin != IMAGE_ORIGIN_PROJECT ||
			       image_policy_names_registry(q->policy, registry);
	return 0;
}

/* ---- Words ---- */

/* How it was asked, for a registry that wants a login. */
static void add_login(const struct session *s, struct str *out)
{
	const struct login_found *l = s->question->login;

	if (l && l->login.key)
		str_addf(out, "with the login of %s in %s", quoted_string(l->login.key),
			quoted_string(l->file));
	else
		str_add_text(out, "anonymously");
	if (l && l->helper)
		str_addf(out, "; the credential helper %s was not run", quoted_string(l->helper));
}

static int unauthorized(const struct session *s, const char *what, struct error *err)
{
	AUTO(str) how = STR_INIT(ERROR_TEXT_MAX);

	add_login(s, &how);
	error_set(err, ERROR_REGISTRY_UNAUTHORIZED, "the registry refuses access (%s), asked %s",
		what, str_text(&how));
	return error_set_remedy(err,
		"log in with podman login %s, or docker login without a credential helper, or "
		"check that the name is right and that this account may read it",
		s->question->ref->registry);
}

static bool mentions(struct text words, const char *secret, size_t least)
{
	return secret && strlen(secret) >= least && text_has(words, secret);
}

/* What stands behind Basic or Bearer. */
static const char *value_of(const struct secret *authorization)
{
	return authorization->p ? strchr(authorization->p, ' ') + 1 : NULL;
}

/* The registry echoes what it was sent, and that is not shorter than `least` bytes. */
static bool holds_secret(const struct session *s, struct text words, size_t least)
{
	const struct auth_login *l = s->question->login ? &s->question->login->login : NULL;
	bool found = mentions(words, value_of(&s->authorization), least);

	if (l && l->key) {
		AUTO(secret) basic = {.p = NULL};
		token_basic(l, &basic);
		found |= mentions(words, l->password.p, least) ||
			 mentions(words, l->identity_token.p, least) ||
			 mentions(words, value_of(&basic), least);
	}
	return found;
}

/* The words of {"errors":[{"code","message"}]}, or the body itself. */
static void read_words(struct text body, struct str *out)
{
	auto_error struct error ignored = ERROR_INIT;
	auto_json *object =
		json_read(body, HTTP_ERROR_BODY_MAX, "body", ERROR_REGISTRY_BAD_ANSWER, &ignored);
	const json_t *first = json_array_get(json_object_get(object, "errors"), 0);
	struct text message = json_get_text(first, "message");

	if (!message.p)
		message = json_get_text(first, "code");
	if (!message.p)
		message = text_trim(body);
	str_add(out, message.p, message.len);
}

/* ": …" with what the registry says, or nothing. */
static void add_words(const struct session *s, const struct http_answer *a, struct str *out)
{
	AUTO(str) words = STR_INIT(HTTP_ERROR_BODY_MAX);

	read_words((struct text){str_text(&a->body), a->body.len}, &words);
	struct text t = {str_text(&words), words.len};
	if (t.len == 0 || holds_secret(s, t, 1))
		return;
	str_add_text(out, ": ");
	text_quote(out, t, WORDS_MAX);
}

static int refuse_status(const struct session *s, const struct http_answer *a, enum error_code code,
	struct error *err)
{
	AUTO(str) words = STR_INIT(5 * WORDS_MAX);

	add_words(s, a, &words);
	return error_set(err, code, "the registry answers with %ld%s", a->status, str_text(&words));
}

int session_refuse(const struct session *s, const struct http_answer *a, struct error *err)
{
	return refuse_status(
		s, a, a->status == 404 ? ERROR_TAG_NOT_FOUND : ERROR_REGISTRY_BAD_ANSWER, err);
}

int session_check_encoding(const struct http_answer *a, struct error *err)
{
	return a->encoded ? error_set(err, ERROR_REGISTRY_BAD_ANSWER,
				    "the answer is compressed, which was not asked for")
			  : 0;
}

/* ---- One request, wherever it is sent ---- */

/* Another host than the registry's own may be special-purpose only if that one is, too. */
static enum http_addresses addresses_of(const struct session *s, const struct url *u)
{
	if (strcmp(u->host, s->api.host) != 0)
		return s->special ? HTTP_NO_METADATA : HTTP_PUBLIC;
	if (!s->api.https)
		return HTTP_LOOPBACK;
	return s->special_is_fine ? HTTP_ANY : HTTP_PUBLIC;
}

static bool any_holds_secret(const struct session *s, const struct strv *headers)
{
	bool found = false;

	strv_foreach (h, headers)
		found |= holds_secret(s, text_of(*h), ECHO_MIN);
	return found;
}

/*
 * A credential in a header would get into a message, or with a Location to another host. One that
 * is shorter could be any word.
 */
static int check_echo(const struct session *s, const struct http_answer *a, struct error *err)
{
	bool found = any_holds_secret(s, &a->digests) ||
		     holds_secret(s, text_of(a->location), ECHO_MIN) ||
		     holds_secret(s, text_of(a->content_type), ECHO_MIN);

	return found ? error_set(err, ERROR_REGISTRY_BAD_ANSWER,
			       "the registry repeats a credential in a header")
		     : 0;
}

static int send_one(
	struct session *s, const struct http_request *r, struct http_answer *ret, struct error *err)
{
	struct http_request request = *r;
	enum special_class literal = SPECIAL_NONE;
	bool own = strcmp(r->url->host, s->api.host) == 0;

	if (++s->requests > SESSION_REQUESTS_MAX)
		return error_set(err, ERROR_REGISTRY_BAD_ANSWER,
			"the registry wants more than %d requests", SESSION_REQUESTS_MAX);
	request.addresses = addresses_of(s, r->url);
	if (http_perform(s->http, &request, ret, err) < 0)
		return -1;
	/* Behind a proxy only the text tells. */
	(void)special_address_literal(text_of(r->url->host), &literal);
	s->special |= own && (ret->special || literal != SPECIAL_NONE);
	return check_echo(s, ret, err);
}

static bool is_redirect(long status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static int refuse_redirect(const struct http_answer *a, const char *fault, struct error *err)
{
	return error_set(err, ERROR_REGISTRY_REDIRECT_REFUSED,
		"the registry redirects to %s, which %s",
		a->location ? quoted_string(a->location) : "nowhere", fault);
}

/* Where a redirect leads, or why it is not followed. */
static int follow(const struct session *s, const struct url *from, const struct http_answer *a,
	struct url *ret, struct error *err)
{
	AUTO(url) to = {.target = NULL};
	const char *fault =
		a->location ? url_resolve(from, text_of(a->location), &to) : "is no place";

	if (!fault && !s->api.https && !url_same_origin(&to, &s->api))
		fault = "is not that registry itself";
	if (!fault && s->api.https && !to.https)
		fault = "is not https";
	if (fault)
		return refuse_redirect(a, fault, err);
	*ret = to;
	to = (struct url){.target = NULL};
	return 0;
}

/* GET or HEAD; *ret_origin: the last answer came from where the first was asked for. */
static int send_following(struct session *s, const struct http_request *r, bool *ret_origin,
	struct http_answer *ret, struct error *err)
{
	AUTO(url) at = {.target = NULL};
	struct http_request request = *r;

	for (int redirects = 0;; redirects++) {
		AUTO(http_answer) answer = {.status = 0};
		if (send_one(s, &request, &answer, err) < 0)
			return -1;
		if (!is_redirect(answer.status)) {
			*ret_origin = url_same_origin(request.url, r->url);
			*ret = answer;
			answer = (struct http_answer){.status = 0};
			return 0;
		}
		struct url next;
		if (redirects == SESSION_REDIRECTS_MAX)
			return refuse_redirect(&answer, "is one redirect too many", err);
		if (follow(s, request.url, &answer, &next, err) < 0)
			return -1;
		url_done(&at);
		at = next;
		request.url = &at;
		if (!url_same_origin(&at, r->url))
			request.authorization = NULL;
	}
}

/* Once more after a pause, where the server is at fault. */
static int send_twice(struct session *s, const struct http_request *r, bool *ret_origin,
	struct http_answer *ret, struct error *err)
{
	for (int attempt = 0;; attempt++) {
		AUTO(http_answer) answer = {.status = 0};
		if (send_following(s, r, ret_origin, &answer, err) < 0)
			return -1;
		bool head = r->method == HTTP_HEAD && answer.status == 501;
		if (answer.status < 500 || answer.status > 599 || head) {
			*ret = answer;
			answer = (struct http_answer){.status = 0};
			return 0;
		}
		if (attempt == 1)
			return refuse_status(s, &answer, ERROR_REGISTRY_SERVER_ERROR, err);
		if (http_pause(s->http, AGAIN_MS, err) < 0)
			return -1;
	}
}

/* ---- Logins ---- */

/* What a realm answers that gives no token; its words are not shown, they may echo the login. */
static int refuse_token(const struct session *s, const struct http_answer *a, struct error *err)
{
	if (a->status == 401 || a->status == 403)
		return unauthorized(s, "no token", err);
	return error_set(err,
		a->status == 429         ? ERROR_REGISTRY_RATE_LIMITED
		: a->status >= 500       ? ERROR_REGISTRY_SERVER_ERROR
		: is_redirect(a->status) ? ERROR_REGISTRY_REDIRECT_REFUSED
					 : ERROR_REGISTRY_BAD_ANSWER,
		"the realm that gives tokens answers with %ld", a->status);
}

static int send_for_token(struct session *s, const struct token_question *q,
	const struct auth_login *login, struct http_answer *ret, struct error *err)
{
	AUTO(url) realm = {.target = NULL};
	struct http_request r = {.url = &realm, .secret = true, .body_max = TOKEN_ANSWER_MAX};
	AUTO(secret) content = {.p = NULL};
	bool ignored;

	if (token_realm(q, &realm, err) < 0)
		return -1;
	if (login && login->identity_token.p) {
		token_form(q, secret_text(&login->identity_token), &content);
		r.method = HTTP_POST;
		r.form = content.p;
		return send_one(s, &r, ret, err);
	}
	token_add_query(q, &realm);
	if (login)
		token_basic(login, &content);
	r.method = HTTP_GET;
	r.authorization = content.p;
	return send_twice(s, &r, &ignored, ret, err);
}

static int fetch_token(struct session *s, const struct challenge *c, const struct auth_login *login,
	struct error *err)
{
	AUTO(http_answer) answer = {.status = 0};
	struct token_question q = {
		.challenge = c, .repository = s->question->ref->repository, .registry = &s->api};

	if (send_for_token(s, &q, login, &answer, err) < 0)
		return -1;
	if (answer.status != 200)
		return refuse_token(s, &answer, err);
	if (session_check_encoding(&answer, err) < 0)
		return -1;
	return token_bearer(
		(struct text){str_text(&answer.body), answer.body.len}, &s->authorization, err);
}

static int choose_challenge(const struct http_answer *a, struct challenge *ret, struct error *err)
{
	auto_free struct text *lines = mem_alloc(a->challenges.n * sizeof(*lines));

	for (size_t i = 0; i < a->challenges.n; i++)
		lines[i] = text_of(a->challenges.v[i]);
	return challenge_choose(lines, a->challenges.n, ret, err);
}

static int authenticate(struct session *s, const struct http_answer *a, struct error *err)
{
	AUTO(challenge) c = {.realm = NULL};
	const struct login_found *found = s->question->login;
	const struct auth_login *login = found && found->login.key ? &found->login : NULL;

	s->authenticated = true;
	if (choose_challenge(a, &c, err) < 0)
		return -1;
	if (c.scheme == CHALLENGE_BEARER)
		return fetch_token(s, &c, login, err);
	if (!login || !login->password.p)
		return unauthorized(s, "it wants a user and a password", err);
	token_basic(login, &s->authorization);
	return 0;
}

/* ---- A request of the registry itself ---- */

static int send_to_registry(struct session *s, const struct session_request *r, bool *ret_origin,
	struct http_answer *ret, struct error *err)
{
	AUTO(url) url = {.target = NULL};
	auto_free char *target =
		mem_printf("/v2/%s/%s/%s", s->question->ref->repository, r->kind, r->name);
	struct http_request request = {.method = r->method,
		.url = &url,
		.accept = r->accept,
		.authorization = s->authorization.p,
		.body_max = r->body_max,
		.digest = r->digest};

	url = s->api;
	url.target = TAKE_PTR(target);
	return send_twice(s, &request, ret_origin, ret, err);
}

/* Statuses that mean the same for every request. */
static int judge_status(const struct session *s, const struct http_answer *a, struct error *err)
{
	switch (a->status) {
	case 401:
		return unauthorized(s, "401", err);
	case 403:
		return unauthorized(s, "403", err);
	case 429:
		return refuse_status(s, a, ERROR_REGISTRY_RATE_LIMITED, err);
	default:
		return 0;
	}
}

int session_ask(struct session *s, const struct session_request *r, struct http_answer *ret,
	struct error *err)
{
	AUTO(http_answer) answer = {.status = 0};
	bool origin;

	if (send_to_registry(s, r, &origin, &answer, err) < 0)
		return -1;
	if (answer.status == 401 && origin && !s->authenticated) {
		if (authenticate(s, &answer, err) < 0)
			return -1;
		http_answer_done(&answer);
		if (send_to_registry(s, r, &origin, &answer, err) < 0)
			return -1;
	}
	if (judge_status(s, &answer, err) < 0)
		return -1;
	*ret = answer;
	answer = (struct http_answer){.status = 0};
	return 0;
}

int session_ping(struct session *s, long *ret_status, struct error *err)
{
	AUTO(http_answer) answer = {.status = 0};
	AUTO(url) url = s->api;
	struct http_request r = {.method = HTTP_GET, .url = &url, .body_max = PING_BODY_MAX};

	url.target = mem_strdup("/v2/");
	if (send_one(s, &r, &answer, err) < 0)
		return -1;
	*ret_status = answer.status;
	return 0;
}

#include "image/registry/token.h"

#include <stdlib.h>

#include "base/json-secret.h"
#include "base/mem.h"

static int bad_realm(const struct token_question *q, const char *fault, struct error *err)
{
	return error_set(err, ERROR_REGISTRY_BAD_ANSWER,
		"the registry sends to %s for a token, which %s",
		quoted_string(q->challenge->realm), fault);
}

int token_realm(const struct token_question *q, struct url *ret, struct error *err)
{
	AUTO(url) realm = {.target = NULL};
	const char *fault = url_parse(text_of(q->challenge->realm), &realm);

	if (fault)
		return bad_realm(q, fault, err);
	if (realm.has_fragment)
		return bad_realm(q, "has a fragment", err);
	if (!realm.https && !url_same_origin(&realm, q->registry))
		return bad_realm(q, "is not https", err);
	*ret = realm;
	realm = (struct url){.target = NULL};
	return 0;
}

/* Percent-encoded at `out`, which has room for three times the bytes; the end of it. */
static char *encode(struct text t, char *out)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < t.len; i++) {
		unsigned char c = (unsigned char)t.p[i];
		if (ascii_word(t.p[i], "-._~")) {
			*out++ = t.p[i];
			continue;
		}
		*out++ = '%';
		*out++ = digits[c >> 4];
		*out++ = digits[c & 15];
	}
	return out;
}

static void add_encoded(struct str *out, const char *s)
{
	auto_free char *encoded = mem_alloc(3 * strlen(s) + 1);

	str_add(out, encoded, (size_t)(encode(text_of(s), encoded) - encoded));
}

/* service=…&scope=… */
static void add_parameters(const struct token_question *q, struct str *out)
{
	auto_free char *scope = mem_printf("repository:%s:pull", q->repository);

	if (q->challenge->service[0]) {
		str_add_text(out, "service=");
		add_encoded(out, q->challenge->service);
		str_add_char(out, '&');
	}
	str_add_text(out, "scope=");
	add_encoded(out, scope);
}

void token_add_query(const struct token_question *q, struct url *realm)
{
	AUTO(str) out = STR_INIT(URL_MAX_BYTES + 3 * (CHALLENGE_MAX_BYTES + IMAGE_TEXT_MAX));

	str_add_text(&out, realm->target);
	str_add_char(&out, strchr(realm->target, '?') ? '&' : '?');
	add_parameters(q, &out);
	free(realm->target);
	realm->target = str_take(&out);
}

void token_form(const struct token_question *q, struct text identity_token, struct secret *ret)
{
	AUTO(str) parameters = STR_INIT(3 * (CHALLENGE_MAX_BYTES + IMAGE_TEXT_MAX) + 256);
	AUTO(secret) token;

	secret_make(3 * identity_token.len, &token);
	token.len = (size_t)(encode(identity_token, token.p) - token.p);
	add_parameters(q, &parameters);
	SECRET_CONCAT(ret, TEXT("grant_type=refresh_token&"), text_of(str_text(&parameters)),
		TEXT("&client_id=cloop&refresh_token="), secret_text(&token));
}

void token_basic(const struct auth_login *login, struct secret *ret)
{
	auth_login_encode(login, "Basic ", ret);
}

static bool is_token(struct text t)
{
	if (t.len == 0 || t.len > TOKEN_MAX_BYTES)
		return false;
	for (size_t i = 0; i < t.len; i++)
		if (t.p[i] < 0x21 || t.p[i] > 0x7e)
			return false;
	return true;
}

int token_bearer(struct text answer, struct secret *ret, struct error *err)
{
	auto_json_secret *object = json_secret_read(answer, TOKEN_ANSWER_MAX,
		"the answer with the token", ERROR_REGISTRY_BAD_ANSWER, err);
	const json_t *token = json_object_get(object, "token");

	if (!object)
		return -1;
	if (!token || json_is_null(token) || (json_is_string(token) && json_text(token).len == 0))
		token = json_object_get(object, "access_token");
	struct text t = json_is_string(token) ? json_text(token) : (struct text){NULL, 0};
	if (!is_token(t))
		return error_set(err, ERROR_REGISTRY_BAD_ANSWER,
			"the answer has no token of 1 to %d visible ASCII bytes", TOKEN_MAX_BYTES);
	SECRET_CONCAT(ret, TEXT("Bearer "), t);
	return 0;
}

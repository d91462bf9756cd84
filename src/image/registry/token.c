#include "image/registry/token.h"

#include <openssl/evp.h>
#include <stdlib.h>

#include "base/json-secret.h"
#include "base/mem.h"
#include "base/wipe.h"

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

static void add_encoded(struct str *out, const char *s)
{
	for (; *s; s++)
		if (ascii_word(*s, "-._~"))
			str_add_char(out, *s);
		else
			str_addf(out, "%%%02X", (unsigned char)*s);
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

char *token_form(const struct token_question *q, const char *identity_token)
{
	size_t max = 3 * (CHALLENGE_MAX_BYTES + IMAGE_TEXT_MAX + strlen(identity_token)) + 256;
	AUTO(str) out = STR_INIT(max);

	if (!str_reserve(&out, max)) /* so that it is never moved by growing */
		abort();
	str_add_text(&out, "grant_type=refresh_token&");
	add_parameters(q, &out);
	str_add_text(&out, "&client_id=cloop&refresh_token=");
	add_encoded(&out, identity_token);
	return str_take(&out);
}

char *token_basic(const struct auth_login *login)
{
	static const char prefix[] = "Basic ";
	char *plain = mem_printf("%s:%s", login->user, login->password ? login->password : "");
	size_t n = strlen(plain);
	char *header = mem_alloc(sizeof(prefix) + (n + 2) / 3 * 4 + 1);

	memcpy(header, prefix, sizeof(prefix));
	EVP_EncodeBlock(
		(unsigned char *)header + sizeof(prefix) - 1, (const unsigned char *)plain, (int)n);
	wipe_string(&plain);
	return header;
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

char *token_bearer(struct text answer, struct error *err)
{
	auto_json_secret *object = json_secret_read(answer, TOKEN_ANSWER_MAX,
		"the answer with the token", ERROR_REGISTRY_BAD_ANSWER, err);
	const json_t *token = json_object_get(object, "token");

	if (!object)
		return NULL;
	if (!token || json_is_null(token) || (json_is_string(token) && json_text(token).len == 0))
		token = json_object_get(object, "access_token");
	struct text t = json_is_string(token) ? json_text(token) : (struct text){NULL, 0};
	if (!is_token(t)) {
		error_set(err, ERROR_REGISTRY_BAD_ANSWER,
			"the answer has no token of 1 to %d visible ASCII bytes", TOKEN_MAX_BYTES);
		return NULL;
	}
	return mem_printf("Bearer %.*s", (int)t.len, t.p);
}

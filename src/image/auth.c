#include "image/auth.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "image/host.h"
#include "image/repository.h"

void auth_login_done(struct auth_login *l)
{
	free(l->key);
	free(l->user);
	secret_done(&l->password);
	secret_done(&l->identity_token);
	*l = (struct auth_login){.key = NULL};
}

void auth_login_encode(const struct auth_login *l, const char *prefix, struct secret *ret)
{
	AUTO(secret) plain = {.p = NULL};
	AUTO(secret) digits = {.p = NULL};

	SECRET_CONCAT(&plain, text_of(l->user), TEXT(":"), secret_text(&l->password));
	base64_encode(secret_text(&plain), &digits);
	SECRET_CONCAT(ret, text_of(prefix), secret_text(&digits));
}

/* ---- Keys ---- */

/* Behind http:// or https://, and whether that stood there. */
static bool take_scheme(struct text *t)
{
	static const char *const schemes[] = {"http://", "https://"};

	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
		if (text_starts(*t, schemes[i])) {
			*t = text_after(*t, strlen(schemes[i]));
			return true;
		}
	return false;
}

/* The API's version, which docker writes behind a host. */
static bool is_version(struct text path)
{
	return text_is(path, "v1") || text_is(path, "v2") || text_is(path, "v1/") ||
	       text_is(path, "v2/");
}

/*
 * The normal form of a key, HOST[:PORT][/PATH]: its length, 0 for one that is no such name. Nothing
 * is added to a path: it may be a part of a name.
 */
static size_t normalize_key(struct text key, char out[IMAGE_TEXT_MAX + 1])
{
	struct registry_parts parts;
	struct text host;
	const char *where;
	bool host_only = take_scheme(&key);

	if (key.len > IMAGE_NAME_MAX)
		return 0;
	text_split(&key, '/', &host);
	if (registry_judge(host, &parts) != REGISTRY_OK)
		return 0;
	registry_normalize(&parts, out);
	size_t n = strlen(out);
	if (host_only || !key.p || is_version(key))
		return n;
	if (repository_judge(key, &where) != REPOSITORY_OK)
		return 0;
	out[n] = '/';
	memcpy(out + n + 1, key.p, key.len);
	out[n + 1 + key.len] = '\0';
	return n + 1 + key.len;
}

/* The best key per length of its normal form: each length is one prefix of the name. */
struct candidates {
	const char *key[IMAGE_TEXT_MAX + 1];
	bool exact[IMAGE_TEXT_MAX + 1];
};

/* What begins the name and ends where a component does. */
static bool is_prefix(const char *name, const char *prefix, size_t n)
{
	return strncmp(name, prefix, n) == 0 && (name[n] == '\0' || name[n] == '/');
}

static void consider(struct candidates *c, const char *name, const char *key)
{
	char normal[IMAGE_TEXT_MAX + 1];
	size_t n = normalize_key(text_of(key), normal);

	if (n == 0 || !is_prefix(name, normal, n))
		return;
	bool exact = strcmp(key, normal) == 0;
	bool better = !c->key[n] || (exact && !c->exact[n]) ||
		      (exact == c->exact[n] && strcmp(key, c->key[n]) < 0);
	if (better) {
		c->key[n] = key;
		c->exact[n] = exact;
	}
}

/* ---- Entries ---- */

/* An entry that is at fault. */
static int broken(const char *file, const char *key, const char *fact, struct error *err)
{
	return error_set(err, ERROR_AUTH_ENTRY_BROKEN, "the login of %s in %s %s",
		quoted_string(key), quoted_string(file), fact);
}

/* USER:PASSWORD into *ret; NULL, or what is wrong with it. */
static const char *split_login(struct text plain, bool has_token, struct auth_login *ret)
{
	while (plain.len > 0 && plain.p[plain.len - 1] == '\0')
		plain.len--;
	const char *colon = plain.len > 0 ? memchr(plain.p, ':', plain.len) : NULL;
	if (!colon)
		return "has no colon between user and password";
	size_t user = (size_t)(colon - plain.p), password = plain.len - user - 1;
	if (user == 0)
		return "has no user";
	if (password == 0 && !has_token)
		return "has no password";
	if (text_has_control(plain))
		return "holds a control character";
	ret->user = mem_strndup(plain.p, user);
	if (!has_token)
		SECRET_CONCAT(&ret->password, (struct text){colon + 1, password});
	return NULL;
}

static const char *read_auth(struct text encoded, bool has_token, struct auth_login *ret)
{
	AUTO(secret) plain = {.p = NULL};

	return encoded.len > 0 && base64_decode(encoded, &plain)
		       ? split_login(secret_text(&plain), has_token, ret)
		       : "is not base64";
}

static bool text_or_absent(const json_t *member)
{
	return !member || json_is_string(member);
}

static int read_entry(const json_t *entry, const char *file, const char *key,
	struct auth_login *ret, struct error *err)
{
	const json_t *auth = json_object_get(entry, "auth");
	const json_t *token = json_object_get(entry, "identitytoken");

	if (!json_is_object(entry) || !text_or_absent(auth) || !text_or_absent(token))
		return broken(file, key, "is no map of texts", err);
	struct text encoded = auth ? json_text(auth) : TEXT("");
	struct text identity = token ? json_text(token) : TEXT("");
	if (encoded.len == 0)
		return identity.len == 0
			       ? AUTH_NO_LOGIN
			       : broken(file, key, "has an identity token and no user", err);
	if (text_has_byte(identity, '\0'))
		return broken(file, key, "has an identity token that holds a NUL", err);
	const char *fault = read_auth(encoded, identity.len > 0, ret);
	if (fault)
		return broken(file, key, fault, err);
	if (identity.len > 0)
		SECRET_CONCAT(&ret->identity_token, identity);
	ret->key = mem_strdup(key);
	return 0;
}

int auth_find(const json_t *content, const char *file, const struct image_reference *r,
	struct auth_login *ret, struct error *err)
{
	json_t *auths = json_object_get(content, "auths"), *entry;
	struct candidates candidates = {.key = {NULL}};
	char name[IMAGE_TEXT_MAX + 1];
	const char *key;

	*ret = (struct auth_login){.key = NULL};
	if (!json_is_object(content) || (auths && !json_is_object(auths)))
		return error_set(err, ERROR_AUTH_FILE_BROKEN, "%s in %s is no map",
			auths ? "auths" : "what is", quoted_string(file));
	image_reference_name(r, name);
	json_object_foreach(auths, key, entry) consider(&candidates, name, key);
	for (size_t n = strlen(name); n > 0; n--) {
		if (!candidates.key[n])
			continue;
		entry = json_object_get(auths, candidates.key[n]);
		int found = read_entry(entry, file, candidates.key[n], ret, err);
		if (found != AUTH_NO_LOGIN)
			return found;
	}
	return AUTH_NO_LOGIN;
}

const char *auth_helper(const json_t *content, const char *registry)
{
	const char *own = json_get_string(json_object_get(content, "credHelpers"), registry);

	return own ? own : json_get_string(content, "credsStore");
}

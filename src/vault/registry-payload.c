#include "vault/registry-payload.h"

#include "base/json-secret.h"
#include "base/mem.h"
#include "image/auth.h"
#include "image/host.h"
#include "vault/payload.h"

static const char hub_key[] = "https://index.docker.io/v1/";

/* The payload taken apart: either a login file, or user and password (views). */
struct login_source {
	json_t *file; /* NULL: none */
	struct text user, password;
};

static void login_source_done(struct login_source *l)
{
	json_secret_free(l->file);
}

static bool looks_like_json(struct text t)
{
	t = text_trim(t);
	return t.len > 0 && (t.p[0] == '{' || t.p[0] == '[' || t.p[0] == '"');
}

static int read_pair(struct text payload, struct login_source *ret, struct error *err)
{
	struct text rest = payload;

	if (text_has_control(payload))
		return payload_invalid(err, 0, "control");
	text_split(&rest, ':', &ret->user);
	ret->password = rest;
	if (!rest.p || ret->user.len == 0 || rest.len == 0)
		return payload_invalid(err, 0, "syntax");
	return 0;
}

static int read_file(struct text payload, struct login_source *ret, struct error *err)
{
	auto_error struct error why = ERROR_INIT;

	ret->file = json_secret_read(
		payload, PAYLOAD_MAX, "the payload", ERROR_SECRET_PAYLOAD_INVALID, &why);
	if (!ret->file)
		return payload_invalid(err, 0, "json");
	if (!json_is_object(json_object_get(ret->file, "auths")))
		return payload_invalid(err, 0, "auths");
	return 0;
}

static int read_source(struct text payload, struct login_source *ret, struct error *err)
{
	return looks_like_json(payload) ? read_file(payload, ret, err)
					: read_pair(payload, ret, err);
}

int registry_payload_check(struct text payload, struct error *err)
{
	AUTO(login_source) l = {.file = NULL};

	return read_source(payload, &l, err);
}

/* Appends the host of a key or constraint in its one spelling; nothing for what is no host. */
static void normal_host(struct text key, struct str *out)
{
	struct registry_parts parts;
	struct text host;

	const char *scheme = memmem(key.p, key.len, "://", 3);
	if (scheme)
		key = text_after(key, (size_t)(scheme - key.p) + 3);
	text_split(&key, '/', &host);
	if (registry_split(host, &parts) != REGISTRY_OK)
		return;
	auto_free char *normal = mem_alloc(host.len + sizeof("docker.io"));
	registry_normalize(&parts, normal);
	str_add_text(out, normal);
}

static bool allowed(struct text key, const struct strv *registries)
{
	AUTO(str) host = STR_INIT(key.len + sizeof("docker.io"));

	normal_host(key, &host);
	strv_foreach (registry, registries) {
		AUTO(str) one = STR_INIT(strlen(*registry) + sizeof("docker.io"));
		normal_host(text_of(*registry), &one);
		if (host.len > 0 && strcmp(str_text(&one), str_text(&host)) == 0)
			return true;
	}
	return false;
}

static const char *const members[] = {"auth", "identitytoken", "username", "password"};

static bool has_text(const json_t *entry, const char *member)
{
	return json_string_length(json_object_get(entry, member)) > 0;
}

static bool has_login(const json_t *entry)
{
	return has_text(entry, "auth") || has_text(entry, "identitytoken") ||
	       (has_text(entry, "username") && has_text(entry, "password"));
}

/* Only what a login is made of. */
static json_t *copy_entry(json_t *entry)
{
	json_t *copy = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (has_text(entry, members[i]))
			json_object_set(copy, members[i], json_object_get(entry, members[i]));
	return copy;
}

static json_t *keep_allowed(json_t *file, const struct strv *registries)
{
	json_t *kept = json_object(), *entry;
	const char *key;

	json_object_foreach(json_object_get(file, "auths"), key, entry)
	{
		if (allowed(text_of(key), registries) && has_login(entry))
			json_object_set_new(kept, key, copy_entry(entry));
	}
	return kept;
}

static bool is_hub(const char *registry)
{
	struct registry_parts parts;

	return registry_split(text_of(registry), &parts) == REGISTRY_OK && registry_is_hub(&parts);
}

static json_t *make_entry(const struct login_source *l, const char *registry)
{
	AUTO(auth_login) login = {.user = mem_strndup(l->user.p, l->user.len)};
	AUTO(secret) encoded = {.p = NULL};
	json_t *auths = json_object(), *entry = json_object();

	SECRET_CONCAT(&login.password, l->password);
	auth_login_encode(&login, "", &encoded);
	json_object_set_new(entry, "auth", json_stringn(encoded.p, encoded.len));
	json_object_set_new(auths, is_hub(registry) ? hub_key : registry, entry);
	return auths;
}

int registry_payload_config(
	struct text payload, const struct strv *registries, struct secret *ret, struct error *err)
{
	AUTO(login_source) l = {.file = NULL};

	if (read_source(payload, &l, err) < 0)
		return -1;
	auto_json_secret *config = json_object();
	json_object_set_new(config, "auths",
		l.file ? keep_allowed(l.file, registries) : make_entry(&l, registries->v[0]));
	if (json_object_size(json_object_get(config, "auths")) == 0)
		return error_set(err, ERROR_REGISTRY_NONE,
			"the secret holds no login for a registry that the grant names");
	json_secret_write(config, ret);
	return 0;
}

/*
 * What a registry may send: a URL that is accepted is rendered to one that reads the same; a
 * manifest is of its own type, and points to valid digests only; a token fits into a header. The
 * first byte chooses.
 */
#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "image/registry/manifest.h"
#include "image/registry/proxy.h"
#include "image/registry/token.h"
#include "image/registry/url.h"

#define JSON_AT(data, size) ((size_t)1)
#include "json-mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_url(const struct url *u)
{
	AUTO(url) again = {.target = NULL};
	char *text = url_render(u);

	assert(u->port != 0 && u->target[0] == '/' && !strpbrk(u->target, "# \\\t\r\n"));
	assert(u->host[0] && !strpbrk(u->host, "/@?#\\ "));
	if (strlen(text) <= URL_MAX_BYTES) {
		const char *fault = url_parse(text_of(text), &again);
		assert(!fault && url_same_origin(u, &again));
		assert(strcmp(u->target, again.target) == 0);
	}
	free(text);
}

static void try_url(struct text t)
{
	AUTO(url) base = {.target = NULL};
	AUTO(url) absolute = {.target = NULL};
	AUTO(url) relative = {.target = NULL};

	url_of_registry(true, "registry.example:5000", "/v2/a/b?c", &base);
	if (!url_parse(t, &absolute))
		check_url(&absolute);
	if (!url_resolve(&base, t, &relative))
		check_url(&relative);
	char *list = strndup(t.p, t.len);
	(void)proxy_bypassed(list, &base);
	free(list);
}

static void check_digest(const char *digest)
{
	assert(!digest || image_digest_valid(text_of(digest)));
}

static void try_manifest(struct text t)
{
	auto_error struct error err = ERROR_INIT;

	for (int type = 0; type < MANIFEST_TYPE_COUNT; type++) {
		auto_json *m = manifest_read(t, (enum manifest_type)type, &err);
		assert(m || error_is(&err, ERROR_UNSUPPORTED_MANIFEST));
		if (!m)
			continue;
		const char *own = json_get_string(m, "mediaType");
		assert(!own || strcmp(own, manifest_type_text((enum manifest_type)type)) == 0);
		check_digest(manifest_platform(m, "amd64"));
		check_digest(manifest_config(m));
		(void)manifest_lists_signature(m);
	}
}

static void try_token(struct text t)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(secret) header = {.p = NULL};

	if (token_bearer(t, &header, &err) < 0)
		assert(!header.p && error_is(&err, ERROR_REGISTRY_BAD_ANSWER));
	else
		assert(header.len > 7 && header.len <= 7 + TOKEN_MAX_BYTES &&
			strlen(header.p) == header.len && !strpbrk(header.p + 7, " \r\n\t"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const targets[])(struct text) = {try_url, try_manifest, try_token};

	if (size > 0)
		targets[data[0] % ARRAY_SIZE(targets)](
			(struct text){(const char *)data + 1, size - 1});
	return 0;
}

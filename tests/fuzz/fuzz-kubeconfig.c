/*
 * Payloads of kind kubeconfig (disk-and-secrets.md §16.7): what is written holds nothing that is
 * refused, and delivers itself when it is the payload.
 */
#include <assert.h>
#include <stdint.h>

#include "base/json.h"
#include "vault/kubeconfig.h"
#include "vault/payload.h"

static void check_clean(const json_t *file, const char *list, const char *item)
{
	static const char *const refused[] = {"exec", "auth-provider", "certificate-authority",
		"client-certificate", "client-key", "tokenFile", "insecure-skip-tls-verify",
		"proxy-url"};
	const json_t *all = json_object_get(file, list);

	assert(json_is_array(all));
	for (size_t i = 0; i < json_array_size(all); i++) {
		const json_t *body = json_object_get(json_array_get(all, i), item);
		assert(json_is_object(body));
		for (size_t k = 0; k < ARRAY_SIZE(refused); k++)
			assert(!json_object_get(body, refused[k]));
	}
}

/* Names that a context of the payload may have, by what is in the file at all. */
static void contexts_of(const json_t *file, struct strv *ret)
{
	const json_t *all = json_object_get(file, "contexts");

	for (size_t i = 0; i < json_array_size(all); i++)
		strv_add(ret, json_get_string(json_array_get(all, i), "name"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	struct text payload = {(const char *)data, size};
	AUTO(strv) contexts = STRV_INIT(8);
	AUTO(strv) kept = STRV_INIT(8);
	AUTO(strv) namespaces = STRV_INIT(1);
	AUTO(secret) first = {.p = NULL};
	AUTO(secret) second = {.p = NULL};
	static const char *const names[] = {"one", "two", "three", "o", "c"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		strv_add(&contexts, names[i]);
	bool good = kubeconfig_check(payload, &err) == 0;
	if (kubeconfig_select(payload, &contexts, &namespaces, &first, &err) < 0) {
		assert(error_is(&err, ERROR_SECRET_PAYLOAD_INVALID));
		return 0;
	}
	assert(good);
	auto_json *file = json_read(secret_text(&first), first.len, "config", ERROR_INTERNAL, &err);
	assert(file);
	check_clean(file, "clusters", "cluster");
	check_clean(file, "users", "user");
	check_clean(file, "contexts", "context");
	contexts_of(file, &kept);
	assert(kept.n > 0 && strcmp(json_get_string(file, "current-context"), kept.v[0]) == 0);
	/* A control character that the payload escaped is no YAML as it is. */
	if (kubeconfig_select(secret_text(&first), &kept, &namespaces, &second, &err) == 0)
		assert(text_equal(secret_text(&first), secret_text(&second)));
	else
		assert(!strcmp(json_get_string(err.details, "reason"), "yaml"));
	return 0;
}

/*
 * Payloads of kind registry (disk-and-secrets.md §16.6): what is written names allowed registries
 * only, holds nothing but logins, and delivers itself when it is the payload.
 */
#include <assert.h>
#include <stdint.h>

#include "base/json.h"
#include "vault/payload.h"
#include "vault/registry-payload.h"
#include "json-mutate.h"

static void check_config(const struct secret *config)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *file =
		json_read(secret_text(config), config->len, "config", ERROR_INTERNAL, &err);
	json_t *auths = json_object_get(file, "auths"), *entry;
	const char *key;

	assert(json_object_size(file) == 1 && json_object_size(auths) > 0);
	json_object_foreach(auths, key, entry)
	{
		assert(text_has(text_of(key), ".") || text_has(text_of(key), "localhost") ||
			text_has(text_of(key), ":") || text_has(text_of(key), "DOCKER"));
		assert(json_object_size(entry) > 0 && json_object_size(entry) <= 4);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	struct text payload = {(const char *)data, size};
	AUTO(strv) registries = STRV_INIT(3);
	AUTO(secret) first = {.p = NULL};
	AUTO(secret) second = {.p = NULL};

	strv_add(&registries, "ghcr.io");
	strv_add(&registries, "docker.io");
	strv_add(&registries, "localhost:5000");
	bool good = registry_payload_check(payload, &err) == 0;
	if (registry_payload_config(payload, &registries, &first, &err) < 0) {
		assert(error_is(&err, good ? ERROR_REGISTRY_NONE : ERROR_SECRET_PAYLOAD_INVALID));
		return 0;
	}
	assert(good);
	check_config(&first);
	int again = first.len > PAYLOAD_MAX ? 1
					    : registry_payload_config(secret_text(&first),
						      &registries, &second, &err);
	assert(again == 1 || (again == 0 && text_equal(secret_text(&first), secret_text(&second))));
	return 0;
}

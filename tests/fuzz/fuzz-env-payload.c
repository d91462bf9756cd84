/*
 * Payloads of variables (disk-and-secrets.md §16.4): as one value it is delivered byte for byte; as
 * an object, its variables written as one again are the same.
 */
#include <assert.h>
#include <stdint.h>

#include "base/json.h"
#include "vault/env-payload.h"
#include "json-mutate.h"

static void check_variables(const struct env_payload *p)
{
	assert(p->n > 0 && p->n <= ENV_PAYLOAD_MAX);
	for (size_t i = 0; i < p->n; i++) {
		struct text value = secret_text(&p->v[i].value), name = text_of(p->v[i].name);
		assert(value.len > 0 && !text_has_byte(value, '\0'));
		assert(name.len + 1 + value.len <= ENV_PAYLOAD_VARIABLE_MAX);
		assert(!text_starts(name, "CLOOP_") && text_all_word(name, "_"));
	}
}

static void check_again(const struct env_payload *p)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(env_payload) again = {.v = NULL};
	struct env_payload_options o = {.secret = TEXT("s"), .format = ENV_FORMAT_OBJECT};
	auto_json *object = json_object();

	for (size_t i = 0; i < p->n; i++)
		json_object_set_new(
			object, p->v[i].name, json_stringn(p->v[i].value.p, p->v[i].value.len));
	assert(json_object_size(object) == p->n);
	auto_free char *text = json_write(object);
	int read = env_payload_read(&o, text_of(text), &again, &err);
	assert(read == 0 && again.n == p->n);
	for (size_t i = 0; i < p->n; i++)
		assert(!strcmp(p->v[i].name, again.v[i].name) &&
			text_equal(secret_text(&p->v[i].value), secret_text(&again.v[i].value)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text payload = {(const char *)data, size};

	for (int f = 0; f < ENV_FORMAT_COUNT; f++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(env_payload) p = {.v = NULL};
		struct env_payload_options o = {
			.secret = TEXT("9.x-y"), .format = (enum env_format)f};
		if (env_payload_read(&o, payload, &p, &err) < 0) {
			assert(error_is(&err, ERROR_SECRET_PAYLOAD_INVALID));
			continue;
		}
		check_variables(&p);
		bool one = p.n == 1 && strcmp(p.v[0].name, "_9_X_Y") == 0;
		if (f == ENV_FORMAT_VALUE)
			assert(one && text_equal(secret_text(&p.v[0].value), payload));
		if (f == ENV_FORMAT_OBJECT)
			check_again(&p);
	}
	return 0;
}

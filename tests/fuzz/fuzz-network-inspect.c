/*
 * What an engine says of a network (network.md §9.2): a bridge that is named is in the answer, a
 * gateway is an IPv4 address, and a network is ours only with all labels and none too many.
 */
#include <assert.h>

#include "base/address.h"
#include "net/engine-network.h"
#include "json-mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool label_is(
	enum engine_network_kind kind, const json_t *document, const char *key, const char *value)
{
	struct text found = engine_network_label(kind, document, key);

	return value ? found.p && text_is(found, value) : !found.p;
}

static void check_owner(enum engine_network_kind kind, const json_t *document, bool internal)
{
	const struct engine_network_owner ours[] = {
		{"h", "e", NULL, internal}, {"h", "e", "c", internal}, {"h", "e", NULL, !internal}};

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		auto_error struct error err = ERROR_INIT;
		int r = engine_network_check_owner(kind, document, &ours[i], &err);
		bool fits = label_is(kind, document, "cloop.home", ours[i].home) &&
			    label_is(kind, document, "cloop.executor", ours[i].executor) &&
			    label_is(kind, document, "cloop.handle", ours[i].handle) &&
			    ours[i].internal == internal;
		assert((r == 0) == fits);
		assert(r == 0 || error_is(&err, ERROR_EGRESS_NETWORK_CONFLICT));
		assert(!text_has_control(text_of(err.message)));
		assert(!text_has_control(text_of(error_remedy(&err))));
	}
}

static void check(enum engine_network_kind kind, const json_t *document)
{
	auto_error struct error err = ERROR_INIT;
	__attribute__((cleanup(engine_network_done))) struct engine_network n = {.bridge = NULL};
	struct address a;

	if (engine_network_read(kind, document, &n, &err) < 0) {
		assert(error_is(&err, ERROR_ENGINE_NETWORK_INSPECT) && !n.bridge);
		return;
	}
	assert(n.bridge && *n.bridge && n.bits <= 32 && (n.gateway || n.bits == 0));
	assert(!n.gateway || (address_parse(text_of(n.gateway), &a) && a.family == AF_INET));
	(void)engine_network_created(kind, document);
	check_owner(kind, document, n.internal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *document = engine_network_parse((struct text){(const char *)data, size}, &err);

	if (!document) {
		assert(error_is(&err, ERROR_ENGINE_NETWORK_INSPECT));
		return 0;
	}
	check(ENGINE_NETWORK_PODMAN, document);
	check(ENGINE_NETWORK_DOCKER, document);
	return 0;
}

#include "net/engine-network.h"

#include "base/address.h"
#include "base/json.h"
#include "base/mem.h"
#include "net/cidr.h"

enum { DOCKER_ID_DIGITS = 12 };

/* Where each engine keeps what we look for. */
static const struct dialect {
	const char *name, *internal, *gateway, *subnet, *labels, *created, *called;
} dialects[] = {
	[ENGINE_NETWORK_PODMAN] = {"podman", "internal", "gateway", "subnet", "labels", "created",
		"name"},
	[ENGINE_NETWORK_DOCKER] = {"docker", "Internal", "Gateway", "Subnet", "Labels", "Created",
		"Name"},
};

void engine_network_done(struct engine_network *n)
{
	free(n->bridge);
	free(n->gateway);
}

/* Owned, or NULL. */
static char *bridge_of(enum engine_network_kind kind, const json_t *document)
{
	struct text id = json_get_text(document, "Id");
	const char *interface = json_get_string(document, "network_interface");

	if (kind == ENGINE_NETWORK_PODMAN)
		return interface && interface[0] ? mem_strdup(interface) : NULL;
	return id.len >= DOCKER_ID_DIGITS ? mem_printf("br-%.*s", DOCKER_ID_DIGITS, id.p) : NULL;
}

/* 0: it is no subnet that has this address. */
static unsigned bits_of(struct text subnet, const struct address *a)
{
	auto_error struct error err = ERROR_INIT;
	struct cidr c;

	return subnet.p && cidr_parse(subnet, &c, &err) == 0 &&
			       address_same_network(&c.address, a, c.bits)
		       ? c.bits
		       : 0;
}

static void read_gateway(
	enum engine_network_kind kind, const json_t *document, struct engine_network *ret)
{
	const json_t *list = kind == ENGINE_NETWORK_PODMAN
				     ? json_object_get(document, "subnets")
				     : json_object_get(json_object_get(document, "IPAM"), "Config");
	size_t i;
	json_t *subnet;
	struct address a;

	json_array_foreach(list, i, subnet)
	{
		struct text gateway = json_get_text(subnet, dialects[kind].gateway);
		if (!gateway.p || !address_parse(gateway, &a) || a.family != AF_INET)
			continue;
		ret->gateway = mem_strndup(gateway.p, gateway.len);
		ret->bits = bits_of(json_get_text(subnet, dialects[kind].subnet), &a);
		return;
	}
}

json_t *engine_network_parse(struct text printed, struct error *err)
{
	auto_json *j = json_read(printed, ENGINE_NETWORK_PRINTED_MAX, "network inspect",
		ERROR_ENGINE_NETWORK_INSPECT, err);

	if (!json_is_array(j))
		return json_incref(j);
	return json_array_size(j) > 0 ? json_incref(json_array_get(j, 0)) : json_null();
}

int engine_network_read(enum engine_network_kind kind, const json_t *document,
	struct engine_network *ret, struct error *err)
{
	char *bridge = json_is_object(document) ? bridge_of(kind, document) : NULL;

	if (!bridge)
		return error_set(err, ERROR_ENGINE_NETWORK_INSPECT,
			"%s does not say which bridge the network has", dialects[kind].name);
	ret->bridge = bridge;
	ret->gateway = NULL;
	ret->bits = 0;
	read_gateway(kind, document, ret);
	ret->internal = json_get_bool(document, dialects[kind].internal, false);
	return 0;
}

struct text engine_network_label(
	enum engine_network_kind kind, const json_t *document, const char *key)
{
	return json_get_text(json_object_get(document, dialects[kind].labels), key);
}

struct text engine_network_created(enum engine_network_kind kind, const json_t *document)
{
	return json_get_text(document, dialects[kind].created);
}

static int conflict(struct text name, const char *engine, const char *what, struct error *err)
{
	error_set(err, ERROR_EGRESS_NETWORK_CONFLICT, "the network %s is there already, %s",
		quoted(name), what);
	return error_set_remedy(
		err, "stop its sandboxes, then: %s network rm %s", engine, quoted(name));
}

int engine_network_check_owner(enum engine_network_kind kind, const json_t *document,
	const struct engine_network_owner *ours, struct error *err)
{
	const struct {
		const char *key, *value;
	} labels[] = {{"cloop.home", ours->home}, {"cloop.executor", ours->executor},
		{"cloop.handle", ours->handle}};
	struct text name = json_get_text(document, dialects[kind].called);

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		struct text found = engine_network_label(kind, document, labels[i].key);
		if (found.p ? !labels[i].value || !text_is(found, labels[i].value)
			    : labels[i].value != NULL)
			return conflict(name, dialects[kind].name, "and is not ours", err);
	}
	if (json_get_bool(document, dialects[kind].internal, false) != ours->internal)
		return conflict(name, dialects[kind].name,
			ours->internal ? "with a route off the host"
				       : "without a route off the host",
			err);
	return 0;
}

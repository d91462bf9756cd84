#include "runner/net-json.h"

#include "base/json.h"
#include "base/mem.h"
#include "runner/case.h"

/* A list of texts; what is no text is given as it is written, so that it is judged as such. */
static void read_list(json_t *object, const char *key, struct strv *ret)
{
	size_t i;
	json_t *item;

	json_array_foreach(json_object_get(object, key), i, item)
	{
		char *written = json_is_string(item) ? mem_strdup(json_string_value(item))
						     : json_dumps(item, JSON_ENCODE_ANY);
		if (strv_take(ret, written) < 0)
			abort();
	}
}

/* Ports are numbers: a text is not one. */
static void read_ports(json_t *object, struct strv *ret)
{
	size_t i;
	json_t *item;

	json_array_foreach(json_object_get(object, "allow_ports"), i,
		item) if (strv_take(ret, json_dumps(item, JSON_ENCODE_ANY)) < 0) abort();
}

void net_json_filter(json_t *object, struct egress_filter *ret)
{
	egress_filter_init(ret);
	ret->enabled = json_get_bool(object, "enabled", false);
	ret->internal = json_get_bool(object, "internal", false);
	ret->allow_public_internet = json_get_bool(object, "allow_public_internet", false);
	ret->allow_all_ports = json_get_bool(object, "allow_all_ports", false);
	ret->ipv6 = json_get_bool(object, "ipv6", false);
	mem_set_string(&ret->broker, json_get_string(object, "broker"));
	mem_set_string(&ret->subnet_pool, json_get_string(object, "subnet_pool"));
	mem_set_string(&ret->subnet_pool6, json_get_string(object, "subnet_pool6"));
	read_list(object, "allow_cidrs", &ret->allow_cidrs);
	read_list(object, "deny_cidrs", &ret->deny_cidrs);
	read_ports(object, &ret->allow_ports);
	read_list(object, "resolvers", &ret->resolvers);
	read_list(object, "host_patterns", &ret->host_patterns);
	read_list(object, "proxies", &ret->proxies);
}

json_t *net_json_error(const struct error *err)
{
	json_t *got = json_pack("{s:s}", "error", error_code_text(err->code));

	json_object_set(got, "key", json_object_get(err->details, "key"));
	return got;
}

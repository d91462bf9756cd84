#include "net/egress-filter-json.h"

#include "base/json.h"
#include "base/mem.h"

static const struct {
	const char *key;
	size_t offset;
} lists[] =
	{
		{"allow_cidrs", offsetof(struct egress_filter, allow_cidrs)},
		{"deny_cidrs", offsetof(struct egress_filter, deny_cidrs)},
		{"allow_ports", offsetof(struct egress_filter, allow_ports)},
		{"resolvers", offsetof(struct egress_filter, resolvers)},
		{"host_patterns", offsetof(struct egress_filter, host_patterns)},
		{"proxies", offsetof(struct egress_filter, proxies)},
},
  flags[] =
	  {
		  {"enabled", offsetof(struct egress_filter, enabled)},
		  {"internal", offsetof(struct egress_filter, internal)},
		  {"allow_public_internet", offsetof(struct egress_filter, allow_public_internet)},
		  {"ipv6", offsetof(struct egress_filter, ipv6)},
		  {"allow_all_ports", offsetof(struct egress_filter, allow_all_ports)},
},
  texts[] = {
	  {"broker", offsetof(struct egress_filter, broker)},
	  {"subnet_pool", offsetof(struct egress_filter, subnet_pool)},
	  {"subnet_pool6", offsetof(struct egress_filter, subnet_pool6)},
};

#define MEMBER(f, at, type) ((type *)((char *)(f) + (at).offset))
#define CONST_MEMBER(f, at, type) ((type const *)((const char *)(f) + (at).offset))

json_t *egress_filter_json_write(const struct egress_filter *f)
{
	json_t *j = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		json_object_set_new(
			j, lists[i].key, json_exact_list(CONST_MEMBER(f, lists[i], struct strv)));
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		json_object_set_new(
			j, flags[i].key, json_boolean(*CONST_MEMBER(f, flags[i], bool)));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		json_object_set_new(
			j, texts[i].key, json_exact(*CONST_MEMBER(f, texts[i], char *)));
	return j;
}

int egress_filter_json_read(const json_t *j, struct egress_filter *ret)
{
	egress_filter_init(ret);
	if (!json_is_object(j))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (json_exact_list_bytes(json_object_get(j, lists[i].key),
			    MEMBER(ret, lists[i], struct strv)) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		*MEMBER(ret, flags[i], bool) = json_get_bool(j, flags[i].key, false);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*MEMBER(ret, texts[i], char *) = json_exact_bytes(json_object_get(j, texts[i].key));
	return 0;
}

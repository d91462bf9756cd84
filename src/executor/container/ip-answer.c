#include "executor/container/ip-answer.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"

void ip_links_done(struct ip_links *l)
{
	free(l->v);
	*l = (struct ip_links){.v = NULL};
}

static int unreadable(const char *what, struct error *err)
{
	return error_set(err, ERROR_IO, "ip's answer about %s is not understood", what);
}

/* An array; no text at all is an empty one. */
static json_t *read_list(struct text json, const char *what, struct error *err)
{
	if (text_blank(json))
		return json_array();
	auto_json *list = json_read(json, IP_ANSWER_MAX, "ip's answer", ERROR_IO, err);
	if (!list)
		return NULL;
	if (!json_is_array(list)) {
		unreadable(what, err);
		return NULL;
	}
	return TAKE_PTR(list);
}

/* False: longer than it may be. An absent member is "". */
static bool copy(const json_t *j, const char *key, char *out, size_t size)
{
	struct text t = json_get_text(j, key);

	if (t.len >= size || (t.p && text_has_byte(t, '\0')))
		return false;
	memcpy(out, t.p ? t.p : "", t.len);
	out[t.len] = '\0';
	return true;
}

static bool read_link(const json_t *j, struct ip_link *ret)
{
	int64_t index = json_get_int(j, "ifindex", 0);

	*ret = (struct ip_link){
		.index = (unsigned)index,
		.mtu = json_get_int(j, "mtu", 0),
		.up = json_list_has(json_object_get(j, "flags"), "UP"),
		.peer = (unsigned)json_get_int(j, "link_index", 0),
		/* A veth's other end has `link_index` beside it when it is elsewhere. */
		.upper = json_object_get(j, "link") && !json_object_get(j, "link_netnsid"),
	};
	return index > 0 && index <= INT32_MAX && copy(j, "ifname", ret->name, sizeof(ret->name)) &&
	       ret->name[0] && copy(j, "address", ret->mac, sizeof(ret->mac)) &&
	       copy(j, "master", ret->master, sizeof(ret->master));
}

int ip_answer_links(struct text json, struct ip_links *ret, struct error *err)
{
	auto_json *list = read_list(json, "interfaces", err);
	AUTO(ip_links) links = {.v = NULL};

	if (!list)
		return -1;
	links.v = mem_alloc((json_array_size(list) + 1) * sizeof(*links.v));
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		/* ip writes {} for what a filter leaves out. */
		if (json_is_object(one) && json_object_size(one) == 0)
			continue;
		if (!read_link(one, &links.v[links.n++]))
			return unreadable("interfaces", err);
	}
	*ret = links;
	links = (struct ip_links){.v = NULL};
	return 0;
}

static bool named(const struct ip_link *l, const struct ip_identity *who)
{
	for (size_t i = 0; i < ARRAY_SIZE(who->names) && who->names[i]; i++)
		if (strcmp(l->name, who->names[i]) == 0)
			return true;
	return false;
}

const struct ip_link *ip_answer_find(const struct ip_links *l, const struct ip_identity *who)
{
	const struct ip_link *by_name = NULL, *by_mac = NULL;
	unsigned same = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct ip_link *one = &l->v[i];
		if (strcmp(one->mac, who->mac) != 0)
			continue;
		if (one->index == who->index)
			return one;
		if (named(one, who))
			by_name = one;
		if (one->mac[0] && !one->upper && !who->exact) {
			by_mac = one;
			same++;
		}
	}
	return by_name ? by_name : same == 1 ? by_mac : NULL;
}

static bool uses(const json_t *route, const char *interface)
{
	const json_t *hops = json_object_get(route, "nexthops");

	if (text_is(json_get_text(route, "dev"), interface))
		return true;
	for (size_t i = 0; i < json_array_size(hops); i++)
		if (text_is(json_get_text(json_array_get(hops, i), "dev"), interface))
			return true;
	return false;
}

static char *describe(const json_t *route, const char *interface)
{
	const char *via = json_get_string(route, "gateway"),
		   *table = json_get_string(route, "table");
	AUTO(str) out = STR_INIT(512);

	str_add_text(&out, "default");
	if (via)
		str_addf(&out, " via %.64s", via);
	str_addf(&out, " dev %s", interface);
	if (table)
		str_addf(&out, " table %.64s", table);
	return str_take(&out);
}

int ip_answer_default_route(struct text json, const char *interface, char **ret, struct error *err)
{
	auto_json *list = read_list(json, "routes", err);

	if (!list)
		return -1;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *route = json_array_get(list, i);
		if (!json_is_object(route))
			return unreadable("routes", err);
		if (uses(route, interface)) {
			*ret = describe(route, interface);
			return 1;
		}
	}
	return 0;
}

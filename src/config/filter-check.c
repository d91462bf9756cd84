#include "config/filter-check.h"

#include <assert.h>

#include "base/json.h"
#include "base/mem.h"
#include "net/egress-policy.h"

static void copy_list(const struct schema_list *from, struct strv *to)
{
	to->max = from->items.n;
	int done = strv_add_all(to, &from->items);
	assert(done == 0);
}

void filter_copy(const struct values_filter *from, struct egress_filter *ret)
{
	egress_filter_init(ret);
	ret->enabled = from->enabled;
	ret->internal = from->internal;
	ret->allow_public_internet = from->allow_public_internet;
	ret->ipv6 = from->ipv6;
	mem_set_string(&ret->broker, from->broker);
	mem_set_string(&ret->subnet_pool, from->subnet_pool);
	mem_set_string(&ret->subnet_pool6, from->subnet_pool6);
	copy_list(&from->allow_cidrs, &ret->allow_cidrs);
	copy_list(&from->deny_cidrs, &ret->deny_cidrs);
	copy_list(&from->allow_ports, &ret->allow_ports);
	copy_list(&from->resolvers, &ret->resolvers);
	copy_list(&from->host_patterns, &ret->host_patterns);
}

/* The value at "allow_ports" or the item at "allow_cidrs[3]"; NULL: the key is not there. */
static const struct node *find(const struct schema_section *s, struct text key)
{
	char name[64];
	struct text rest = key, part = {0};
	size_t index = 0;

	text_split(&rest, '[', &part);
	assert(part.len < sizeof(name));
	memcpy(name, part.p, part.len);
	name[part.len] = '\0';
	const struct node *n = section_value(s, name);
	if (!rest.p || !n || n->kind != NODE_SEQUENCE)
		return n;
	for (; rest.len > 0 && ascii_digit(rest.p[0]); rest = text_after(rest, 1))
		index = index * 10 + (size_t)(rest.p[0] - '0');
	const struct node *item = n->first;
	while (item && index-- > 0)
		item = item->next;
	return item ? item : n;
}

static const char *const keys[] = {"enabled", "internal", "allow_cidrs", "deny_cidrs",
	"allow_ports", "allow_public_internet", "resolvers", "broker", "host_patterns",
	"subnet_pool", "subnet_pool6"};

/* Where nothing of the section is at fault itself: what the keys come to. */
static bool all_valid(const struct schema_section *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (section_given(s, keys[i]) && !section_valid(s, keys[i]))
			return false;
	return true;
}

/* A key that is missing has a path, and the place of the section (sandbox-spec.md §4). */
static void report(struct schema_bind *b, const struct schema_section *s, struct text key,
	const struct error *err)
{
	const struct node *at = find(s, key);
	AUTO(str) path = STR_INIT(NODE_PATH_MAX);

	if (at) {
		schema_problem_error(b, at, err);
		return;
	}
	node_path(b->tree, s->node, &path);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (text_is(key, keys[i]))
			str_addf(&path, ".%s", keys[i]);
	problems_add_error(b->errors, s->node->at, str_text(&path), err);
}

void filter_check(struct schema_bind *b, const struct schema_section *s, void *out)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_filter) f;
	AUTO(egress_policy) p = {.n_rules = 0};

	filter_copy(out, &f);
	if (!all_valid(s) || egress_policy_load(&f, &p, &err) == 0)
		return;
	report(b, s, json_get_text(err.details, "key"), &err);
}

#include "executor/container/plan-network.h"

#include "net/egress-filter-json.h"

void plan_network_done(struct plan_network *n)
{
	egress_filter_done(&n->filter);
	*n = PLAN_NETWORK_INIT;
}

bool plan_network_made(const struct plan_network *n)
{
	return n->kind == NETWORK_PLAN_RUN || n->kind == NETWORK_PLAN_INTERNAL;
}

size_t plan_network_warnings(const struct plan_network *n, bool session,
	struct plan_network_warning ret[PLAN_NETWORK_WARNINGS_MAX])
{
	bool configured = n->kind == NETWORK_PLAN_CONFIGURED;
	const struct {
		bool holds;
		struct plan_network_warning warning;
	} rows[PLAN_NETWORK_WARNINGS_MAX] = {
		{configured && session,
			{"egress_unenforced",
				"the network is not filtered: the proxy binds only programs that "
				"use it"}},
		{configured && n->filter_idle,
			{"egress_filter_disabled",
				"the network is not filtered: executors.container.egress_filter "
				"says what to open, and its key enabled is false"}},
		{n->kind == NETWORK_PLAN_INTERNAL && !n->table,
			{"internal_host_open",
				"nft is not usable: the sandbox reaches this host's own addresses "
				"at its gateway"}},
		{n->extra_dns_ignored,
			{"extra_dns_ignored",
				"resolvers of extra_args are left out: the run has a network of "
				"its own"}},
	};
	size_t n_ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].holds)
			ret[n_ret++] = rows[i].warning;
	return n_ret;
}

json_t *plan_network_to_json(const struct plan_network *n)
{
	json_t *j = json_pack("{s:s}", "kind", network_plan_kind_text(n->kind));

	if (n->kind == NETWORK_PLAN_CONFIGURED)
		json_object_set_new(j, "filter_idle", json_boolean(n->filter_idle));
	if (!plan_network_made(n))
		return j;
	json_object_set_new(j, "table", json_boolean(n->table));
	json_object_set_new(j, "shared", json_boolean(n->shared));
	json_object_set_new(j, "extra_dns_ignored", json_boolean(n->extra_dns_ignored));
	json_object_set_new(j, "name", json_string(n->name));
	json_object_set_new(j, "table_name", json_string(n->table_name));
	json_object_set_new(j, "seed", json_integer(n->seed));
	json_object_set_new(j, "mode", json_string(egress_mode_text(n->mode)));
	json_object_set_new(j, "filter", egress_filter_json_write(&n->filter));
	return j;
}

static bool copy(const json_t *j, const char *key, char *out, size_t size)
{
	struct text t = json_get_text(j, key);

	if (t.len == 0 || t.len >= size)
		return false;
	memcpy(out, t.p, t.len);
	out[t.len] = '\0';
	return true;
}

int plan_network_from_json(const json_t *j, struct plan_network *ret)
{
	*ret = PLAN_NETWORK_INIT;
	if (!j)
		return 0;
	int kind = network_plan_kind_from_text(json_get_text(j, "kind"));
	if (kind < 0)
		return -1;
	ret->kind = (enum network_plan_kind)kind;
	ret->filter_idle = json_get_bool(j, "filter_idle", false);
	if (!plan_network_made(ret))
		return 0;
	int mode = egress_mode_from_text(json_get_text(j, "mode"));
	ret->table = json_get_bool(j, "table", true);
	ret->shared = json_get_bool(j, "shared", false);
	ret->extra_dns_ignored = json_get_bool(j, "extra_dns_ignored", false);
	ret->seed = (uint32_t)json_get_int(j, "seed", 0);
	if (mode < 0 || !copy(j, "name", ret->name, sizeof(ret->name)) ||
		!copy(j, "table_name", ret->table_name, sizeof(ret->table_name)))
		return -1;
	ret->mode = (enum egress_mode)mode;
	return egress_filter_json_read(json_object_get(j, "filter"), &ret->filter);
}

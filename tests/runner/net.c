/* The kinds of area net about addresses, names and what engines say (network.md §3, §5, §9). */
#include "base/mem.h"
#include "net/egress-policy.h"
#include "net/endpoint.h"
#include "net/engine-network.h"
#include "net/host-pattern.h"
#include "net/metadata.h"
#include "net/network-name.h"
#include "net/nft-script.h"
#include "runner/case.h"
#include "runner/net-json.h"

static json_t *address_json(const struct address *a)
{
	char text[INET6_ADDRSTRLEN];

	address_text(a, text);
	return json_string(text);
}

static void run_cidr(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	char text[CIDR_TEXT_SIZE];
	struct cidr range;

	if (cidr_parse(json_get_text(c, "text"), &range, &err) < 0) {
		case_exact(r, c, net_json_error(&err));
		return;
	}
	cidr_text(&range, text);
	case_exact(r, c, json_pack("{s:s}", "cidr", text));
}

static void run_endpoint(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	bool resolver = text_is(json_get_text(c, "role"), "resolver");
	struct endpoint e;

	if (endpoint_parse(resolver ? ENDPOINT_RESOLVER : ENDPOINT_BROKER, json_get_text(c, "text"),
		    &e, &err) < 0)
		case_exact(r, c, net_json_error(&err));
	else
		case_exact(r, c,
			json_pack("{s:o, s:i}", "address", address_json(&e.address), "port",
				(int)e.port));
}

/* ---- metadata ---- */

static json_t *services_json(const struct metadata_services *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(list, address_json(&s->v[i]->address));
	return list;
}

static void run_within(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	struct metadata_services found;
	struct cidr range;

	if (cidr_parse(json_get_text(c, "range"), &range, &err) < 0) {
		case_exact(r, c, net_json_error(&err));
		return;
	}
	metadata_within(&range, &found);
	case_exact(r, c, services_json(&found));
}

/* In canonical order; caller frees. */
static struct cidr *read_ranges(json_t *list, size_t *ret_n)
{
	auto_error struct error err = ERROR_INIT;
	size_t n = json_array_size(list);
	struct cidr *ranges = mem_alloc((n + 1) * sizeof(*ranges));

	for (size_t i = 0; i < n; i++)
		if (cidr_parse(json_text(json_array_get(list, i)), &ranges[i], &err) < 0)
			abort();
	*ret_n = cidr_normalize(ranges, n);
	return ranges;
}

static void run_check(json_t *c, struct case_result *r)
{
	size_t n_allow, n_deny;
	auto_free struct cidr *allow = read_ranges(json_object_get(c, "allow"), &n_allow);
	auto_free struct cidr *deny = read_ranges(json_object_get(c, "deny"), &n_deny);
	json_t *findings = json_array();
	struct metadata_services found;
	char text[CIDR_TEXT_SIZE];

	for (size_t i = 0; i < n_allow; i++) {
		metadata_find(&allow[i], (struct cidr_list){allow, n_allow},
			(struct cidr_list){deny, n_deny}, &found);
		if (found.n == 0)
			continue;
		cidr_text(&allow[i], text);
		json_array_append_new(findings,
			json_pack("{s:s, s:o}", "range", text, "services", services_json(&found)));
	}
	case_exact(r, c, findings);
}

static void run_surface(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_filter) f;
	AUTO(egress_policy) loaded = {.n_rules = 0};
	AUTO(egress_policy) written = {.n_rules = 0};
	auto_json *filter = json_pack(
		"{s:O, s:[i]}", "allow_cidrs", json_object_get(c, "allow"), "allow_ports", 443);

	net_json_filter(filter, &f);
	bool file = egress_policy_load(&f, &loaded, &err) == 0;
	bool flags = egress_policy_written(&f, &written, &err) == 0;
	case_exact(r, c,
		json_string(file != flags ? "surfaces differ"
			    : file        ? "accepted"
					  : "refused"));
}

/* ---- block ---- */

static json_t *class_json(enum special_class class)
{
	return class == SPECIAL_NONE ? json_null() : json_string(special_class_text(class));
}

static void run_block(json_t *c, struct case_result *r)
{
	struct address a;

	if (!address_parse(json_get_text(c, "address"), &a))
		case_exact(r, c, json_string("no address"));
	else
		case_exact(r, c, class_json(special_address_class(a.family, a.bytes)));
}

static void run_block_prefix(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	struct cidr range;

	if (cidr_parse(json_get_text(c, "prefix"), &range, &err) < 0)
		case_exact(r, c, net_json_error(&err));
	else
		case_exact(r, c, class_json(cidr_class(&range)));
}

/* ---- names ---- */

static void run_network_name(json_t *c, struct case_result *r)
{
	char network[NETWORK_NAME_SIZE], table[NETWORK_TABLE_SIZE];

	network_name(json_get_text(c, "executor_id"), json_get_text(c, "handle"), network);
	network_name_table(network, table);
	case_exact(r, c, json_pack("{s:s, s:s}", "network", network, "table", table));
}

static void run_nft_name(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	struct text name = json_get_text(c, "text");
	int result = text_is(json_get_text(c, "what"), "table")
			     ? nft_script_check_table(name, &err)
			     : nft_script_check_bridge(name, &err);

	case_exact(r, c, json_string(result == 0 ? "ok" : error_code_text(err.code)));
}

static void run_comment(json_t *c, struct case_result *r)
{
	char out[NFT_COMMENT_MAX + 1];

	nft_script_comment(json_get_text(c, "text"), out);
	case_exact(r, c, json_string(out));
}

static void run_nft_stderr(json_t *c, struct case_result *r)
{
	case_exact(r, c,
		json_string(nft_script_is_privilege(json_get_text(c, "stderr")) ? "privilege"
										: "other"));
}

/* ---- engine ---- */

static void run_inspect(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(engine_network) n = {.bridge = NULL};
	bool docker = text_is(json_get_text(c, "engine"), "docker");

	if (engine_network_read(docker ? ENGINE_NETWORK_DOCKER : ENGINE_NETWORK_PODMAN,
		    json_object_get(c, "json"), &n, &err) < 0)
		case_exact(r, c, net_json_error(&err));
	else
		case_exact(r, c,
			json_pack("{s:s, s:s?, s:b}", "bridge", n.bridge, "gateway", n.gateway,
				"internal", n.internal));
}

static const char *const text_fields[] = {"text", NULL};
static const char *const endpoint_fields[] = {"role", "text", NULL};
static const char *const within_fields[] = {"range", NULL};
static const char *const check_fields[] = {"allow", "deny", NULL};
static const char *const block_fields[] = {"address", "prefix", NULL};
static const char *const name_fields[] = {"executor_id", "handle", NULL};
static const char *const nft_name_fields[] = {"what", "text", NULL};
static const char *const stderr_fields[] = {"stderr", NULL};
static const char *const inspect_fields[] = {"engine", "json", NULL};

const struct case_kind case_net_kinds[] = {
	{"cidr", text_fields, run_cidr},
	{"endpoint", endpoint_fields, run_endpoint},
	{"within", within_fields, run_within},
	{"check", check_fields, run_check},
	{"surface", check_fields, run_surface},
	{"block", block_fields, run_block},
	{"block_prefix", block_fields, run_block_prefix},
	{"network_name", name_fields, run_network_name},
	{"nft_name", nft_name_fields, run_nft_name},
	{"comment", text_fields, run_comment},
	{"nft_stderr", stderr_fields, run_nft_stderr},
	{"inspect", inspect_fields, run_inspect},
	{NULL, NULL, NULL},
};

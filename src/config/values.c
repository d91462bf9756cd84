#include "config/values.h"

#include "config/filter-check.h"
#include "net/subnet-pool.h"
#include "config/values-check.h"
#include "image/policy-keys.h"
#include "image/published.h"
#include "limits/ceiling.h"

enum {
	MINUTES_MAX = 525600, /* a year */
	TEXT_MAX = 1024,
};

static const struct schema_key limits_keys[] = {
	{.name = "max_cpu",
		.type = SCHEMA_CPU,
		.offset = offsetof(struct limits, cpu_millis),
		.max = CEILING_CPU_MAX,
		.doc = "Cores that a run gets at most. 0: no ceiling."},
	{.name = "max_memory",
		.type = SCHEMA_SIZE,
		.flags = SCHEMA_ZERO,
		.offset = offsetof(struct limits, memory_mb),
		.min = CEILING_MB_MIN,
		.max = CEILING_MB_MAX,
		.doc = "Memory that a run gets at most. 0: no ceiling."},
	{.name = "max_disk",
		.type = SCHEMA_SIZE,
		.flags = SCHEMA_ZERO,
		.offset = offsetof(struct limits, disk_mb),
		.min = CEILING_MB_MIN,
		.max = CEILING_MB_MAX,
		.doc = "What a run's workspace may grow to at most. 0: no ceiling."},
	{.name = "max_pids",
		.type = SCHEMA_INTEGER,
		.offset = offsetof(struct limits, pids),
		.max = CEILING_PIDS_MAX,
		.doc = "Processes that a run has at most. 0: no ceiling."},
};
static const struct schema limits_schema = {SCHEMA(limits_keys),
	.doc = "Ceilings of every run, whatever its project asks for. They only lower: a request "
	       "or a default above is cut, and a run that asks for nothing gets the ceiling."};

#define AT(name) .offset = offsetof(struct egress_settings, name)
static const struct schema_key egress_keys[] = {
	{.name = "enabled",
		.type = SCHEMA_BOOLEAN,
		AT(enabled),
		.fallback = "true",
		.doc = "Sessions under egress grants can be opened. Nothing listens until a run "
		       "has one."},
	{.name = "listen_addr",
		.type = SCHEMA_TEXT,
		.flags = SCHEMA_BLANK,
		AT(listen_addr),
		.max_bytes = TEXT_MAX,
		.fallback = "",
		.check = values_check_listen,
		.doc = "ADDRESS:PORT for executors on other machines: not loopback, not all "
		       "addresses. Not used for local ones."},
	{.name = "advertise_addr",
		.type = SCHEMA_TEXT,
		.flags = SCHEMA_BLANK,
		AT(advertise_addr),
		.max_bytes = TEXT_MAX,
		.fallback = "",
		.check = values_check_advertise,
		.doc = "HOST[:PORT] that they dial."},
	{.name = "max_session_minutes",
		.type = SCHEMA_INTEGER,
		AT(max_session_minutes),
		.min = 1,
		.max = 240,
		.fallback = "15",
		.doc = "Longest life of a session."},
	{.name = "dial_timeout_seconds",
		.type = SCHEMA_INTEGER,
		AT(dial_timeout_seconds),
		.min = 1,
		.max = 120,
		.fallback = "15",
		.doc = "Time to reach a destination."},
	{.name = "default_max_bytes_up",
		.type = SCHEMA_INTEGER,
		AT(default_max_bytes_up),
		.max = INT64_MAX,
		.fallback = "0",
		.doc = "Where a grant says 0. 0: unlimited."},
	{.name = "default_max_bytes_down",
		.type = SCHEMA_INTEGER,
		AT(default_max_bytes_down),
		.max = INT64_MAX,
		.fallback = "0",
		.doc = "Where a grant says 0. 0: unlimited."},
	{.name = "max_connections",
		.type = SCHEMA_INTEGER,
		AT(max_connections),
		.min = 1,
		.max = 1024,
		.fallback = "64",
		.doc = "Connections of a session at a time."},
};
#undef AT
static const struct schema egress_schema = {
	SCHEMA(egress_keys), .doc = "The proxy through which granted runs reach the network."};

#define AT(name) .offset = offsetof(struct values_filter, name)
static const struct schema_key filter_keys[] = {
	{.name = "enabled",
		.type = SCHEMA_BOOLEAN,
		AT(enabled),
		.fallback = "false",
		.doc = "The filter is on: `cloop egress firewall` shows what it comes to."},
	{.name = "internal",
		.type = SCHEMA_BOOLEAN,
		AT(internal),
		.fallback = "false",
		.doc = "A network without a route off the host."},
	{.name = "allow_cidrs",
		.type = SCHEMA_LIST,
		AT(allow_cidrs),
		.doc = "Ranges (ADDRESS/BITS) that are open on allow_ports; at most 256."},
	{.name = "deny_cidrs",
		.type = SCHEMA_LIST,
		AT(deny_cidrs),
		.doc = "Ranges that are closed whatever else is open; at most 256."},
	{.name = "allow_ports",
		.type = SCHEMA_LIST,
		AT(allow_ports),
		.doc = "Ports of allow_cidrs and of the public internet; at most 64."},
	{.name = "allow_public_internet",
		.type = SCHEMA_BOOLEAN,
		AT(allow_public_internet),
		.fallback = "false",
		.doc = "Every public address is open on allow_ports."},
	{.name = "resolvers",
		.type = SCHEMA_LIST,
		AT(resolvers),
		.doc = "Name servers that the sandbox may ask, an address each, with a port if it "
		       "is not 53; at most 16."},
	{.name = "broker",
		.type = SCHEMA_TEXT,
		.flags = SCHEMA_BLANK,
		AT(broker),
		.max_bytes = TEXT_MAX,
		.fallback = "",
		.doc = "ADDRESS:PORT of an operator's own proxy."},
	{.name = "host_patterns",
		.type = SCHEMA_LIST,
		AT(host_patterns),
		.doc = "Host names that are meant, at most 256; only for a warning, since packets "
		       "carry no names."},
	{.name = "ipv6",
		.type = SCHEMA_BOOLEAN,
		AT(ipv6),
		.fallback = "false",
		.doc = "Filtered networks get IPv6 too."},
	{.name = "subnet_pool",
		.type = SCHEMA_TEXT,
		AT(subnet_pool),
		.max_bytes = 64,
		.fallback = SUBNET_POOL_DEFAULT,
		.doc = "Where run networks take their subnets."},
	{.name = "subnet_pool6",
		.type = SCHEMA_TEXT,
		AT(subnet_pool6),
		.max_bytes = 64,
		.fallback = SUBNET_POOL6_DEFAULT,
		.doc = "The same for IPv6."},
};
#undef AT
static const struct schema filter_schema = {SCHEMA(filter_keys), .across = filter_check,
	.doc = "What a sandbox with a network may reach."};

#define AT(name) .offset = offsetof(struct values_container, name)
#define OPTION(name) .offset = offsetof(struct values_container, options.name)
static const char *const quota_words[] = {"auto", "off", NULL};
static const struct schema_key container_keys[] = {
	{.name = "enabled",
		.type = SCHEMA_BOOLEAN,
		AT(enabled),
		.fallback = "true",
		.doc = "Runs can go into containers of the local engine. Without an engine the "
		       "executor is listed as unavailable."},
	{.name = "id",
		.type = SCHEMA_TEXT,
		.flags = SCHEMA_BLANK,
		OPTION(id),
		.fallback = CONTAINER_DEFAULT_ID,
		.doc = "Id of this executor."},
	{.name = "runtime",
		.type = SCHEMA_TEXT,
		.flags = SCHEMA_BLANK,
		OPTION(runtime),
		.fallback = "",
		.doc = "podman, docker, or the absolute path of one. Empty: find."},
	{.name = "oci_runtime",
		.type = SCHEMA_TEXT,
		.flags = SCHEMA_BLANK,
		OPTION(oci_runtime),
		.fallback = "",
		.doc = "Low-level runtime by the engine's name for it: runc, crun, kata, runsc. "
		       "Empty: the engine's own."},
	{.name = "group_add",
		.type = SCHEMA_LIST,
		AT(group_add),
		.doc = "Further numeric groups of the workload, for devices."},
	{.name = "image",
		.type = SCHEMA_TEXT,
		OPTION(image),
		.fallback = CONTAINER_DEFAULT_IMAGE,
		.doc = "Image of projects that name none."},
	{.name = "network",
		.type = SCHEMA_TEXT,
		.flags = SCHEMA_BLANK,
		OPTION(network),
		.fallback = "none",
		.doc = "none, bridge, or a network that the operator made. A project without a "
		       "network grant has none whatever is set here."},
	{.name = "cpus",
		.type = SCHEMA_CUSTOM,
		OPTION(cpu_millis),
		.custom = values_check_cpus,
		.fallback = "0",
		.doc = "Cores of a run that asks for none, at most 1024 with up to 3 decimals. "
		       "0: no limit."},
	{.name = "memory",
		.type = SCHEMA_SIZE,
		.flags = SCHEMA_ZERO,
		OPTION(memory_mb),
		.min = CEILING_MB_MIN,
		.max = CEILING_MB_MAX,
		.range_code = "memory_invalid",
		.fallback = "0",
		.doc = "Memory of a run that asks for none. 0: no limit."},
	{.name = "pids_limit",
		.type = SCHEMA_SIGNED,
		OPTION(pids_limit),
		.min = INT64_MIN,
		.max = 4194304,
		.range_code = "pids_invalid",
		.fallback = "1024",
		.doc = "Processes of a run that asks for none. Negative: no limit. 0: 1024."},
	{.name = "selinux_label",
		.type = SCHEMA_TEXT,
		.flags = SCHEMA_BLANK,
		OPTION(selinux_label),
		.fallback = "",
		.doc = "z, Z, or empty."},
	{.name = "egress_filter",
		.type = SCHEMA_SECTION,
		AT(filter),
		.section = &filter_schema,
		.doc = "See below."},
	{.name = "allow_hosts",
		.type = SCHEMA_LIST,
		AT(allow_hosts),
		.doc = "HOST:ADDRESS lines of the sandbox's hosts file. Needs a network."},
	{.name = "extra_args",
		.type = SCHEMA_LIST,
		AT(extra_args),
		.doc = "Further flags of the engine, from a short list, each as --flag=value."},
	{.name = "orphan_grace_period_seconds",
		.type = SCHEMA_SIGNED,
		OPTION(orphan_grace_period_seconds),
		.min = INT64_MIN,
		.max = INT64_MAX,
		.fallback = "600",
		.doc = "Age at which a container without a run is removed. 0 or less: 600."},
	{.name = "start_timeout_seconds",
		.type = SCHEMA_SIGNED,
		OPTION(start_timeout_seconds),
		.min = 10,
		.max = 3600,
		.range_code = "option_out_of_range",
		.fallback = "120",
		.doc = "Time that a start may take."},
	{.name = "stop_grace_seconds",
		.type = SCHEMA_SIGNED,
		OPTION(stop_grace_seconds),
		.max = 600,
		.range_code = "option_out_of_range",
		.fallback = "10",
		.doc = "Time between SIGTERM and SIGKILL."},
	{.name = "log_max_mb",
		.type = SCHEMA_SIGNED,
		OPTION(log_max_mb),
		.min = 1,
		.max = 4096,
		.range_code = "option_out_of_range",
		.fallback = "64",
		.doc = "Output that is kept of a run; the oldest goes first."},
	{.name = "allow_root_user",
		.type = SCHEMA_BOOLEAN,
		OPTION(allow_root_user),
		.fallback = "false",
		.doc = "Projects of root may run, as root in the container."},
	{.name = "protect_project_files",
		.type = SCHEMA_BOOLEAN,
		OPTION(protect_project_files),
		.fallback = "true",
		.doc = "Files in .git and .cloop that the host would obey are read-only."},
	{.name = "disk_quota",
		.type = SCHEMA_TEXT,
		AT(disk_quota),
		.choices = quota_words,
		.fallback = "auto",
		.doc = "Kept for project quotas, which are not used: disk limits are measured."},
	{.name = "derived_image_days",
		.type = SCHEMA_INTEGER,
		AT(derived_image_days),
		.max = 3650,
		.range_code = "option_out_of_range",
		.fallback = "30",
		.doc = "Days after which an unused image built from setup is removed. 0: never."},
};
#undef OPTION
#undef AT
static const struct schema container_schema = {SCHEMA(container_keys),
	.across = values_check_container, .doc = "Containers of the local podman or docker."};

static const struct schema_key kubernetes_keys[] = {
	{.name = "enabled",
		.type = SCHEMA_BOOLEAN,
		.offset = offsetof(struct values_kubernetes, enabled),
		.fallback = "false",
		.doc = "Not available in this version."},
};
static const struct schema kubernetes_schema = {
	SCHEMA(kubernetes_keys), .across = values_check_kubernetes, .doc = "Pods of a cluster."};

#define AT(name) .offset = offsetof(struct values_executors, name)
static const char *const provenance_words[] = {"off", "warn", "required", NULL};
static const struct schema_key executors_keys[] = {
	{.name = "default",
		.type = SCHEMA_TEXT,
		AT(default_id),
		.check = values_check_id,
		.doc = "Id that unbound projects use. Unset: the only enabled executor, else "
		       "container."},
	{.name = "allow_host_process",
		.type = SCHEMA_BOOLEAN,
		AT(allow_host_process),
		.fallback = "false",
		.doc = "Work may run on this host without isolation. Off: it is refused."},
	{.name = "min_agent_build",
		.type = SCHEMA_TEXT,
		AT(min_agent_build),
		.max_bytes = 64,
		.check = values_check_build,
		.doc = "vMAJOR.MINOR.PATCH: older agents get no work."},
	{.name = "orphan_sweep_interval_minutes",
		.type = SCHEMA_SIGNED,
		AT(orphan_sweep_interval_minutes),
		.min = INT64_MIN,
		.max = MINUTES_MAX,
		.range_code = "option_out_of_range",
		.fallback = "15",
		.doc = "How often the hub removes leftovers. 0: 15. Negative: never. No effect "
		       "without "
		       "a hub, which this version does not have: cloop-reap.timer does it."},
	{.name = "limits",
		.type = SCHEMA_SECTION,
		AT(limits),
		.section = &limits_schema,
		.doc = "See below."},
	{.name = "image_provenance",
		.type = SCHEMA_TEXT,
		AT(image_provenance),
		.choices = provenance_words,
		.fallback = "warn",
		.doc = "What happens to cloop's own images. warn: one that is unsigned or cannot "
		       "be checked runs with a warning, one that somebody else has signed is "
		       "refused. required: only a verified one runs. off: none is checked."},
	{.name = "published_images",
		.type = SCHEMA_SECTION,
		AT(published),
		.section = &published_images_schema,
		.doc = "See below."},
	{.name = "egress",
		.type = SCHEMA_SECTION,
		AT(egress),
		.section = &egress_schema,
		.doc = "See below."},
	{.name = "container",
		.type = SCHEMA_SECTION,
		AT(container),
		.section = &container_schema,
		.doc = "See below."},
	{.name = "kubernetes",
		.type = SCHEMA_SECTION,
		AT(kubernetes),
		.section = &kubernetes_schema,
		.doc = "See below."},
};
#undef AT
static const struct schema executors_schema = {
	SCHEMA(executors_keys), .across = values_check_executors};

static const struct schema_key sandbox_keys[] = {
	{.name = "image_policy",
		.type = SCHEMA_SECTION,
		.offset = offsetof(struct values_sandbox, image_policy),
		.section = &image_policy_schema,
		.doc = "See below."},
};
static const struct schema sandbox_schema = {SCHEMA(sandbox_keys)};

static const struct schema_key orchestrator_keys[] = {
	{.name = "min_free_disk_mb",
		.type = SCHEMA_INTEGER,
		.flags = SCHEMA_ZERO,
		.offset = offsetof(struct values_orchestrator, min_free_disk_mb),
		.min = CEILING_MB_MIN,
		.max = CEILING_MB_MAX,
		.range_code = "out_of_range",
		.fallback = "1024",
		.doc = "Free space below which no run starts and running ones are paused. 0: off."},
};
static const struct schema orchestrator_schema = {SCHEMA(orchestrator_keys)};

static const struct schema hub_schema = {.doc = "The hub has no keys in this version."};

#define AT(name) .offset = offsetof(struct values, name)
static const struct schema_key root_keys[] = {
	{.name = "executors",
		.type = SCHEMA_SECTION,
		AT(executors),
		.section = &executors_schema,
		.doc = "Where runs go."},
	{.name = "sandbox",
		.type = SCHEMA_SECTION,
		AT(sandbox),
		.section = &sandbox_schema,
		.doc = "What sandbox files may ask for."},
	{.name = "orchestrator",
		.type = SCHEMA_SECTION,
		AT(orchestrator),
		.section = &orchestrator_schema,
		.doc = "How runs are looked after."},
	{.name = "hub",
		.type = SCHEMA_SECTION,
		.section = &hub_schema,
		.doc = "The HTTP API and web UI."},
};
#undef AT
const struct schema values_schema = {SCHEMA(root_keys)};

void values_init(struct values *v)
{
	*v = (struct values){0};
	container_options_init(&v->executors.container.options);
	schema_defaults(&values_schema, v);
}

static void list_done(struct schema_list *list)
{
	strv_done(&list->items);
}

static void container_done(struct values_container *c)
{
	container_options_done(&c->options);
	list_done(&c->group_add);
	list_done(&c->allow_hosts);
	list_done(&c->extra_args);
	list_done(&c->filter.allow_cidrs);
	list_done(&c->filter.deny_cidrs);
	list_done(&c->filter.allow_ports);
	list_done(&c->filter.resolvers);
	list_done(&c->filter.host_patterns);
	free(c->filter.broker);
	free(c->filter.subnet_pool);
	free(c->filter.subnet_pool6);
	free(c->disk_quota);
}

void values_done(struct values *v)
{
	struct values_executors *e = &v->executors;

	free(e->default_id);
	free(e->min_agent_build);
	free(e->image_provenance);
	published_images_done(&e->published);
	free(e->egress.listen_addr);
	free(e->egress.advertise_addr);
	container_done(&e->container);
	image_policy_done(&v->sandbox.image_policy);
	*v = (struct values){0};
}

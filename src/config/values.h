/*
 * config.yaml as it is written: the tables of all keys (config.md §2) and what they bind to. The
 * rest of the program uses struct config (config.h), which is made of this.
 */
#pragma once

#include "egress/settings.h"
#include "executor/container/options.h"
#include "image/policy.h"
#include "image/published.h"
#include "limits/limits.h"
#include "schema/schema.h"

/* Judged by config/filter-check.h. */
struct values_filter {
	bool enabled;
	bool internal;
	bool allow_public_internet;
	bool ipv6;
	char *broker;
	char *subnet_pool;
	char *subnet_pool6;
	struct schema_list allow_cidrs, deny_cidrs, allow_ports, resolvers, host_patterns;
};

struct values_container {
	bool enabled;
	/* Complete but for its lists, which stand beside it (values_container_options()). */
	struct container_options options;
	struct schema_list group_add, allow_hosts, extra_args;
	struct values_filter filter;
	char *disk_quota;
	uint64_t derived_image_days;
};

struct values_kubernetes {
	bool enabled;
};

struct values_executors {
	char *default_id;
	bool allow_host_process;
	char *min_agent_build;
	int64_t orphan_sweep_interval_minutes;
	struct limits limits;
	char *image_provenance;
	struct published_images published;
	struct egress_settings egress;
	struct values_container container;
	struct values_kubernetes kubernetes;
};

struct values_sandbox {
	struct image_policy image_policy;
};

struct values_orchestrator {
	uint64_t min_free_disk_mb;
};

struct values {
	struct values_executors executors;
	struct values_sandbox sandbox;
	struct values_orchestrator orchestrator;
};

/* The whole file; checks of values included. */
extern const struct schema values_schema;

/* Fills in every default. */
void values_init(struct values *v);
void values_done(struct values *v);

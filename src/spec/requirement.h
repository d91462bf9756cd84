/*
 * What a run needs of an executor (sandbox-spec.md §8.3, §12.1). One function derives it, for
 * placement, the gate of a bound executor and `sandbox explain`; a requirement is never dropped.
 * Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strv.h"
#include "spec/run-spec.h"
#include "spec/spec.h"

enum requirement_network_off {
	REQUIREMENT_NETWORK_OFF_NOT, /* not wanted */
	REQUIREMENT_NETWORK_OFF_ANY, /* enforced or unproven */
	REQUIREMENT_NETWORK_OFF_ENFORCED,
};

enum {
	REQUIREMENT_LABELS_MAX = 64,
	REQUIREMENT_HARNESSES_MAX = 64,
	REQUIREMENT_ISOLATIONS_MAX = 16,
	REQUIREMENT_NAMES_MAX = 32,
};

struct requirement_label {
	char *key;
	char *value;
};

/* All zero = nothing is needed. Owns its strings. */
struct requirement {
	char *executor_id; /* NULL = any */
	bool forbid_degraded;
	bool isolation_required;
	struct strv isolation_allowed; /* empty = any */
	bool virtualization;
	bool kernel_isolation;
	struct requirement_label *labels;
	size_t n_labels;
	char *platform; /* NULL = unknown */
	char *arch;
	struct strv harnesses;
	bool container_runtime;
	bool network_egress;
	enum requirement_network_off network_off;
	bool resource_limits;
	bool pids_limit;
	bool disk_limit;
	bool image_override;
	bool sandbox_build;
	bool sandbox_mounts;
	bool host_mounts;
	bool devices;
	bool interfaces;
	bool egress_scope;
	bool workspace_provisioning;
	bool shares_host_filesystem;
	bool branch_bundle;
	bool project_seed;
	bool write_back;
	bool secret_files;
	bool revocation;
	bool stream;
	bool signal;
	uint64_t min_memory_mb; /* 0 = none */
	bool ignore_capacity;
};
void requirement_done(struct requirement *r);
void requirement_add_label(struct requirement *r, const char *key, const char *value);
void requirement_add_harness(struct requirement *r, const char *program);

/*
 * Adds to *r what a present spec needs (NULL = none) and what the hub's run spec needs on top
 * (NULL = none). Where the file selects devices or interfaces, its selection counts, not what is
 * granted. Never asks for a workspace on behalf of the file.
 */
void requirement_of(
	const struct sandbox_spec *spec, const struct run_spec *run, struct requirement *r);

/* The names of §8.3 that are set, in its order; `harnesses` stands for programs other than git. */
void requirement_names(const struct requirement *r, struct strv *ret);

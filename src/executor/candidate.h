/*
 * What an executor advertises (sandbox-spec.md §12.1, §14): the input of placement and gate. It
 * comes from our drivers and, over a wire, from agents: words stay text until a predicate judges
 * them, and whatever is not claimed is not there. All texts and lists are borrowed from whoever
 * filled the struct, unless it was read by candidate_from_json().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct candidate_label {
	struct text key, value;
};

struct candidate {
	struct text id;
	struct text kind;      /* "container", "kubernetes" …; only for words of a detail */
	struct text health;    /* ready (or empty), degraded, unreachable, cordoned, draining */
	struct text isolation; /* none, container, vm, remote; empty claims nothing */
	bool virtualized;
	bool kernel_isolated; /* see candidate_kernel_isolated() */
	const struct candidate_label *labels;
	size_t n_labels;
	struct text platform, arch; /* empty = not known */
	const struct text *harnesses;
	size_t n_harnesses; /* 0 = has every program */
	const struct text *container_runtimes;
	size_t n_container_runtimes;

	bool network_egress;
	struct text network_off; /* enforced, unproven, no */
	bool resource_limits;
	bool pids_limit;
	struct text disk_enforcement; /* sampled, quota, eviction; empty = none */
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
	/* Not asked for by placement. */
	bool attach;
	bool gated;
	bool filtered_egress;
	bool secret_files_from_host_path;

	int64_t memory_mb;      /* 0 = not known */
	int64_t max_concurrent; /* 0 = no maximum */
	bool load_known;
	int64_t in_flight;
	bool agent;        /* it runs an agent, whose build is: */
	struct text build; /* vMAJOR.MINOR.PATCH; anything else is older than any */

	/* The driver's own words for why it lacks something; empty = none. */
	struct text health_reason; /* of ours only: no member of the object */
	struct text disk_reason;
	struct text interfaces_reason;

	void *storage; /* of candidate_from_json(); NULL otherwise */
};
void candidate_done(struct candidate *c);

/*
 * The one predicate "isolates" (§11): isolation is exactly container, vm or remote. Every place
 * that decides about host execution asks this function.
 */
bool candidate_isolates(const struct candidate *c);
/* Claimed, or implied by virtualized. */
bool candidate_kernel_isolated(const struct candidate *c);
bool candidate_ready(const struct candidate *c);
bool candidate_degraded(const struct candidate *c);
/* Slots that are free: 0 or more; no maximum or an unknown load counts as 2^30. */
int64_t candidate_free_slots(const struct candidate *c);

/*
 * Reads the object of §12.1 (cases, agents): an absent or null member claims nothing. *ret keeps a
 * reference to `object`; the caller owes candidate_done(). A member of another name or type is
 * `usage`: an agent that means something else is not half understood.
 */
must_check int candidate_from_json(json_t *object, struct candidate *ret, struct error *err);
/* The object of §12.1 with every member. */
must_check json_t *candidate_to_json(const struct candidate *c);

/*
 * Effective limits of a run (sandbox-spec.md §10.3): a pure function of what caller and file ask,
 * the executor's defaults, three ceilings and what the executor can hold.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "limits/ceiling.h"

/* Where an effective limit comes from. */
enum effective_source {
	EFFECTIVE_FROM_NONE,
	EFFECTIVE_FROM_DEFAULT,
	EFFECTIVE_FROM_CALLER,
	EFFECTIVE_FROM_SPEC,
	EFFECTIVE_FROM_FLEET,
	EFFECTIVE_FROM_EXECUTOR,
	EFFECTIVE_FROM_PROJECT,
	EFFECTIVE_FROM_COUNT
};
const char *effective_source_text(enum effective_source s);
int effective_source_from_text(struct text t);

struct effective_input {
	struct limits caller;
	struct limits spec;
	int64_t defaults[RESOURCE_COUNT]; /* the executor's options; <= 0 is none */
	struct limits ceilings[CEILING_COUNT];
	/* What the executor can hold, as it advertises it. */
	bool resource_limits;
	bool pids_limit;
	struct text disk_enforcement;
};

/* A ceiling that lowered something that was asked for. */
struct effective_clamp {
	enum resource resource;
	uint64_t requested; /* the value this ceiling saw */
	uint64_t effective;
	enum ceiling source;
};

struct effective {
	struct limits requested; /* smaller non-zero of caller and file; 0 = nothing stated */
	struct limits limits;    /* 0 = nothing limits the run */
	enum effective_source source[RESOURCE_COUNT];
	struct effective_clamp clamps[RESOURCE_COUNT * CEILING_COUNT];
	size_t n_clamps; /* ordered by source, then resource */
	/* A ceiling names it and the executor cannot hold it. */
	bool unenforced[RESOURCE_COUNT];
};

void effective_limits(const struct effective_input *in, struct effective *ret);

/* The one answer to "does this executor hold a disk limit": sampled, quota or eviction. */
bool effective_disk_enforced(struct text disk_enforcement);

/* {cpu_millis, memory_mb, pids, disk_mb}, all members. */
must_check json_t *effective_limits_to_json(const struct limits *l);
/* {effective, source, clamps[{resource, requested, effective, source}], unenforced[]}. */
must_check json_t *effective_to_json(const struct effective *e);

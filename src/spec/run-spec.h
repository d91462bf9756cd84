/*
 * What an executor is handed (sandbox-spec.md §9.2): prepared by the hub from grants, settings and
 * the caller's wishes, then narrowed by the file. Owns its strings. All zero = nothing is stated.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/hash.h"
#include "base/strv.h"
#include "limits/limits.h"
#include "spec/spec.h"

enum {
	RUN_SPEC_DEVICES_MAX = 256,
	RUN_SPEC_INTERFACES_MAX = 256,
	RUN_SPEC_SETUP_MAX = 32,
};

enum run_workspace {
	RUN_WORKSPACE_NONE,
	RUN_WORKSPACE_BIND, /* the hub's own directory: the executor shares its file system */
	RUN_WORKSPACE_GIT,  /* fetched where the run is */
	RUN_WORKSPACE_COUNT
};

struct run_spec {
	char *image; /* NULL = the executor's */
	struct strv setup;
	struct spec_mount *mounts;
	size_t n_mounts;
	struct limits limits;             /* asked for so far; ceilings come later (§10.3) */
	uint64_t workspace_size_limit_mb; /* of what is fetched; 0 = none */
	struct strv devices;              /* names of granted devices that are attached */
	struct strv interfaces;           /* names of granted interfaces that are moved in */
	bool network_off;                 /* whatever the executor is configured with */
	char *grant;        /* egress grant the session is opened under; NULL = none */
	char *egress_scope; /* "public", "none", NULL */
	char sandbox_sha256[SHA256_HEX_SIZE]; /* "" = no file, or it says nothing */
	char setup_sha256[SHA256_HEX_SIZE];

	/* What the hub adds; it only matters for requirements (§8.3). */
	char *harness; /* the provider's program, NULL = none */
	enum run_workspace workspace;
	bool host_mounts; /* granted repositories */
	bool branch_bundle;
	bool project_seed;
	bool write_back;
	bool secret_files;
	bool revocation;
};

#define RUN_SPEC_INIT \
	((struct run_spec){.setup = STRV_INIT(RUN_SPEC_SETUP_MAX), \
		.devices = STRV_INIT(RUN_SPEC_DEVICES_MAX), \
		.interfaces = STRV_INIT(RUN_SPEC_INTERFACES_MAX)})
void run_spec_done(struct run_spec *r);
/* *to becomes a deep copy; it is overwritten, not freed. */
void run_spec_copy(const struct run_spec *from, struct run_spec *to);
/* Replaces the mounts by copies. */
void run_spec_set_mounts(struct run_spec *r, const struct spec_mount *mounts, size_t n);
/*
 * {"image","setup","mounts","limits","workspace_size_limit_mb","devices","interfaces",
 * "network_off","grant","egress_scope","sandbox_sha256","setup_sha256"}; null for what is not set.
 */
must_check json_t *run_spec_to_json(const struct run_spec *r);

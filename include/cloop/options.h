/*
 * libcloop: options of a container executor and the text rules that hold for them
 * (container-driver.md §3, §5). Everything here is pure. Seed: Options, Validate….
 */
#pragma once

#include <cloop/egress.h>
#include <cloop/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Seed: DefaultID, DefaultImage, DefaultOrphanGracePeriod (in seconds: ten minutes). */
#define CLOOP_CONTAINER_DEFAULT_ID "container"
#define CLOOP_CONTAINER_DEFAULT_IMAGE "ghcr.io/blechschmidt/cloop-harness:latest"
#define CLOOP_CONTAINER_DEFAULT_ORPHAN_GRACE_SEC 600
/* Network words: nothing but loopback; the engine's own network. Seed: NetworkNone, NetworkBridge.
 */
#define CLOOP_NETWORK_NONE "none"
#define CLOOP_NETWORK_BRIDGE "bridge"

/*
 * Options of an executor; begun by cloop_container_options_init(), which fills in what stands for
 * "not given". Texts: NULL = not given. Lists end with NULL, NULL = empty. The caller keeps what it
 * points to until the call returns. Seed: Options.
 */
struct cloop_container_options {
	const char *id;            /* CLOOP_CONTAINER_DEFAULT_ID */
	const char *runtime;       /* "", "podman", "docker" or an absolute path; "" = find one */
	const char *oci_runtime;   /* low-level runtime by name; "" = the engine's own */
	const uint32_t *group_add; /* further groups of the workload, at most 16 */
	size_t n_group_add;
	const char *image;         /* CLOOP_CONTAINER_DEFAULT_IMAGE */
	const char *network;       /* CLOOP_NETWORK_NONE, _BRIDGE, or a network of the operator's */
	uint64_t cpu_millis;       /* thousandths of a core, at most 1,024,000; 0 = none */
	uint64_t memory_mb;        /* 64 to 1,048,576; 0 = none */
	int64_t pids_limit;        /* 0 = 1024; negative = no limit */
	const char *selinux_label; /* "", "z" or "Z" */
	struct cloop_egress_filter egress_filter;
	const char *const *allow_hosts;      /* "host:address", at most 64 */
	const char *const *extra_args;       /* cloop_container_validate_extra_args() */
	int64_t orphan_grace_period_seconds; /* 0 or less = 600 */
	int64_t start_timeout_seconds;       /* 10 to 3600; -1 = 120 */
	int64_t stop_grace_seconds;          /* 0 to 600; -1 = 10 */
	int64_t log_max_mb;                  /* 1 to 4096; -1 = 64 */
	bool allow_root_user;
	bool protect_project_files;  /* true */
	uint64_t derived_image_days; /* unused images for `setup` are reaped after; 0 = never */
	struct cloop_image_policy image_policy;
	/*
	 * cloop's own directory, absolute: where runs live. NULL or "" = a private one for as long
	 * as the executor exists, removed with it (enough for preflight and a smoke test) by the
	 * process that made it, not by its fork()ed children. Seed: HandleStore.
	 */
	const char *home;
	const void *reserved[6];
};

/* Everything "not given". */
CLOOP_API void cloop_container_options_init(struct cloop_container_options *options);
/*
 * A checked copy with all defaults filled in; `options` and what it points to stay as they are.
 * Released by cloop_container_options_free(). No I/O. Errors: the first in the order of §3, with
 * the code of its row.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_options_normalize(
	const struct cloop_container_options *options, struct cloop_container_options **normalized,
	struct cloop_error *err);
/* Only for what cloop_container_options_normalize() gave. */
CLOOP_API void cloop_container_options_free(struct cloop_container_options *normalized);

/*
 * Further words for the engine's command line (§5.8): an allowlist of flags as --flag=value;
 * `extra` ends with NULL. Errors: extra_args_too_many (32), extra_arg_*. Seed: ValidateExtraArgs.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_validate_extra_args(
	const char *const *extra, struct cloop_error *err);
/*
 * A reference as image-trust.md §2 has it: nothing that could be read as a flag or by a shell.
 * Errors: the codes there (empty, too_long, not_ascii …). Seed: ValidateImageRef.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_validate_image_ref(
	const char *ref, struct cloop_error *err);
/*
 * "", none, bridge, or the name of a network (§5.5). Errors: network_host, network_mode_refused,
 * network_name_too_long, network_name_invalid. Seed: ValidateNetwork.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_validate_network(
	const char *name, struct cloop_error *err);
/*
 * UID:GID in decimal, neither of them 0 (§5.6). Errors: user_missing, user_not_numeric, root_user,
 * user_gid_missing, user_out_of_range. Seed: ValidateNonRootUser.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_validate_non_root_user(
	const char *user, struct cloop_error *err);
/*
 * The name, never a path, of a low-level runtime (§5.4); "" = the engine's own. Errors:
 * oci_runtime_*. Seed: ValidateOCIRuntime.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_validate_oci_runtime(
	const char *name, struct cloop_error *err);

/* Bytes that a container's name needs, NUL included. */
#define CLOOP_CONTAINER_NAME_SIZE 64
/*
 * The name of a run's container, cloop-PROJECT-RUN (§5.9): a function of the project directory's
 * path and the run's handle. Never fails. Seed: ContainerName.
 */
CLOOP_API void cloop_container_name(
	const char *work_dir, const char *run_id, char name[CLOOP_CONTAINER_NAME_SIZE]);

#ifdef __cplusplus
}
#endif

/*
 * libcloop: what a run is asked to be (the seed's executor.Spec, container-driver.md §5, §7-§9).
 * Texts that are NULL or empty are not given; lists of texts end with NULL and may be NULL.
 * Everything is borrowed for the call that gets the spec; copies of secrets are wiped at its end.
 */
#pragma once

#include <cloop/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the project directory is in every sandbox. Seed: ContainerWorkspace. */
#define CLOOP_CONTAINER_WORKSPACE "/workspace"
/* Where cloop is in a sandbox. Seed: ContainerCloopPath. */
#define CLOOP_CONTAINER_CLOOP_PATH "/usr/local/bin/cloop"
/* What Kata needs on the host. Seed: KVMDevice. */
#define CLOOP_KVM_DEVICE "/dev/kvm"

/*
 * Labels of every container that this driver starts: made by cloop (always "true"), the executor,
 * the run, the home, the project directory, the hash of its sandbox.yaml, names of the granted
 * devices and interfaces, the confinement of its egress. Seed: the same names, but for HOME.
 */
#define CLOOP_LABEL_MANAGED "cloop.managed"
#define CLOOP_LABEL_EXECUTOR "cloop.executor"
#define CLOOP_LABEL_HANDLE "cloop.handle"
#define CLOOP_LABEL_HOME "cloop.home"
#define CLOOP_LABEL_PROJECT "cloop.project"
#define CLOOP_LABEL_SANDBOX_HASH "cloop.sandbox"
#define CLOOP_LABEL_DEVICES "cloop.devices"
#define CLOOP_LABEL_INTERFACES "cloop.interfaces"
#define CLOOP_LABEL_EGRESS_SCOPE "cloop.egress_scope"

/*
 * Bounded amounts; 0 = the executor's default. A limit that cannot be held refuses the run. Outside
 * of the bounds: cpus_invalid, memory_invalid, pids_invalid, out_of_range (disk).
 */
struct cloop_limits {
	uint64_t cpu_millis; /* thousandths of a core, at most 1,024,000 */
	uint64_t memory_mb;  /* 64 to 1,048,576 */
	uint64_t pids;       /* at most 4,194,304 */
	uint64_t disk_mb;    /* of the workspace, 64 to 1,048,576 */
};

/* A part of the host's tree below the workspace's source, or a granted repository. */
struct cloop_mount {
	const char *name;   /* of a granted repository; else NULL */
	const char *source; /* mounts: relative to work_dir; host_mounts: absolute, resolved */
	const char *target; /* absolute, inside (§5.14) */
	bool read_only;
};

/* A granted device node (§5.11). */
struct cloop_device {
	const char *name;
	const char *source;      /* below /dev, resolved */
	const char *target;      /* NULL = source */
	const char *permissions; /* "r", "rw" or "rwm"; NULL = "r" */
};

/* A network interface that is moved into the sandbox (§5.12). */
struct cloop_interface {
	const char *name;    /* of the grant */
	const char *source;  /* on the host */
	const char *target;  /* inside; NULL = source */
	const char *address; /* "IP/BITS"; NULL = none */
	const char *gateway; /* NULL = none */
	int64_t mtu;         /* 0 = as it is */
};

/* A credential that appears as a read-only file in the directory `secret_dir` (§5.13, §15). */
struct cloop_secret_file {
	const char *name;  /* one component */
	const void *data;  /* any bytes */
	size_t size;       /* at most 262,144; all files together at most 1 MiB */
	unsigned mode;     /* 0400, 0500, 0600 or 0700; 0 = 0600 */
	const char *grant; /* id of the grant that brought it; NULL = the lease as a whole */
};

/* A variable whose value is a credential: it is masked in the output, too. */
struct cloop_secret_variable {
	const char *name;
	const char *value;
	const char *grant; /* as in cloop_secret_file */
};

/* A label of the container; the key is put below "cloop.spec." (§5.9). */
struct cloop_label {
	const char *key;
	const char *value;
};

/* Begun by cloop_spec_init(). work_dir and argv are needed. */
struct cloop_spec {
	const char *work_dir;     /* the project: mounted at CLOOP_CONTAINER_WORKSPACE */
	const char *const *argv;  /* the workload, as it is: no shell is between */
	const char *const *env;   /* NAME=VALUE; NULL = none: the host's is never inherited */
	const char *image;        /* NULL = the executor's; else judged by its image policy */
	const char *const *setup; /* commands that make an image from it first, at most 32 */
	struct cloop_limits limits;
	bool disable_network;
	const char *egress_scope; /* "public", "none"; NULL = no scope */
	const struct cloop_mount *mounts;
	size_t n_mounts;
	const struct cloop_mount *host_mounts; /* granted repositories */
	size_t n_host_mounts;
	const struct cloop_device *devices;
	size_t n_devices;
	const struct cloop_interface *interfaces;
	size_t n_interfaces;
	const struct cloop_label *labels;
	size_t n_labels;
	const char *const *redact; /* names in `env` whose values are masked in the output */
	/*
	 * What a lease brought. lease: "lease_" and 24 lower-case hexadecimal digits; needed where
	 * there are secrets, and what cloop_container_revoke_lease() asks for. secret_dir: inside,
	 * below /run/cloop; NULL = /run/cloop/cloop-lease-<the lease's digits>.
	 */
	const char *lease;
	const char *secret_dir;
	const struct cloop_secret_file *secret_files;
	size_t n_secret_files;
	const struct cloop_secret_variable *secret_variables;
	size_t n_secret_variables;
	const char *sandbox_sha256; /* of the project's sandbox.yaml; for the label */
	const char *title;          /* of the run, for people */
	/* From the moment the workload runs, at most 3,153,600,000,000 (100 years); 0 = none. */
	int64_t timeout_ms;
	const void *reserved[8];
};

/* Nothing given. */
CLOOP_API void cloop_spec_init(struct cloop_spec *spec);

#ifdef __cplusplus
}
#endif

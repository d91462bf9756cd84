/*
 * libcloop: the container engine and its low-level runtimes (container-driver.md §4, §5.4).
 * Seed: Runtime, DetectRuntime, IsVirtualizedOCIRuntime, AuditRuntime.
 */
#pragma once

#include <cloop/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The supported engines. Seed: RuntimePodman, RuntimeDocker. */
#define CLOOP_RUNTIME_PODMAN "podman"
#define CLOOP_RUNTIME_DOCKER "docker"

/* An engine that was found. Filled by the library, released by cloop_runtime_free(). */
struct cloop_runtime {
	const char *name; /* CLOOP_RUNTIME_PODMAN or CLOOP_RUNTIME_DOCKER */
	const char *path; /* absolute; kept, so that a later PATH swaps nothing */
	bool rootless;    /* podman of a user other than root: workloads live in a user namespace */
};

/*
 * An engine that command lines are built for without looking at the host. Filled by the caller.
 * Seed: AuditRuntime.
 */
struct cloop_audit_runtime {
	const char *name; /* as in cloop_runtime */
	bool rootless;
};

/*
 * Finds the engine (§4.1). preferred: "podman", "docker", an absolute path of one of the two, or
 * NULL or "" = podman if it is there, else docker. Asks the program for its version (at most 20 s).
 * Errors: runtime_unsupported (another name, or a program that is another one), runtime_missing,
 * runtime_unsafe (writable by others), runtime_masquerade (podman under docker's name),
 * engine_timeout. Seed: DetectRuntime, ErrNoRuntime.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_runtime_detect(
	const char *preferred, struct cloop_runtime **runtime, struct cloop_error *err);
CLOOP_API void cloop_runtime_free(struct cloop_runtime *runtime);
/*
 * For people: "podman (rootless)", "podman", "docker"; "<none>" for NULL. Static.
 * Seed: Runtime.String.
 */
CLOOP_API const char *cloop_runtime_string(const struct cloop_runtime *runtime);

/*
 * The name of a low-level runtime (outer blanks and case ignored) says that a hypervisor is between
 * the workload and this kernel: Kata. A name only; that it works is shown by the smoke test. NULL
 * is the engine's own runtime: false. Pure. Seed: IsVirtualizedOCIRuntime.
 */
CLOOP_API bool cloop_oci_runtime_is_virtualized(const char *name);
/* The same of a kernel other than this one's: Kata or gVisor. Pure. */
CLOOP_API bool cloop_oci_runtime_is_kernel_isolated(const char *name);

#ifdef __cplusplus
}
#endif

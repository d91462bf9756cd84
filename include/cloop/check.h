/*
 * libcloop: what an executor can do, and whether it can do it here (container-driver.md §19, §20).
 * Seed: Finding, PreflightReport, SmokeTestResult, executor.Capabilities.
 */
#pragma once

#include <cloop/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Levels of a finding: passed; usable, with a caveat; nothing runs until it is mended. */
#define CLOOP_LEVEL_OK "ok"
#define CLOOP_LEVEL_WARN "warn"
#define CLOOP_LEVEL_FAIL "fail"

/* One observation. Texts are never NULL. Seed: Finding. */
struct cloop_finding {
	const char *name;    /* of the check: "runtime", "image", "workdir" … */
	const char *level;   /* CLOOP_LEVEL_… */
	const char *message; /* what was observed */
	const char *fix;     /* the remedy; "" = nothing to mend */
};

/* Filled by the library, released by cloop_preflight_report_free(). Seed: PreflightReport. */
struct cloop_preflight_report {
	const char *executor_id;
	const char *runtime; /* for people, as cloop_runtime_string() */
	const char *image;
	const char *work_dir; /* "" = none was given */
	const struct cloop_finding *findings;
	size_t n_findings;
};

CLOOP_API void cloop_preflight_report_free(struct cloop_preflight_report *report);
/* No finding fails. Seed: PreflightReport.OK. */
CLOOP_API bool cloop_preflight_ok(const struct cloop_preflight_report *report);
/*
 * 0, or -1 with all findings that fail in one message: "name: message (fix: …)", joined by "; ";
 * code executor_unavailable. Seed: PreflightReport.Err.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_preflight_err(
	const struct cloop_preflight_report *report, struct cloop_error *err);

/* Filled by the library, released by cloop_smoke_result_free(). Seed: SmokeTestResult. */
struct cloop_smoke_result {
	const char *image;
	const char *runtime;        /* for people, as cloop_runtime_string() */
	const char *oci_runtime;    /* "" = the engine's own */
	const char *container_name; /* "" = it had none yet */
	const char *output;         /* both streams, trimmed, at most 400 bytes */
	int exit_code;              /* -1 = none */
	int64_t duration_ms;        /* from the start to the end; -1 = it did not come that far */
	const char *mounted_binary; /* path inside of the host's program; "" = the image's own */
};

/* NULL is fine. */
CLOOP_API void cloop_smoke_result_free(struct cloop_smoke_result *result);

/*
 * What the executor can do (§20): its configuration and facts gathered when it was made. Allocated
 * by the library, the executor's own. Seed: executor.Capabilities.
 */
struct cloop_capabilities {
	const char *isolation; /* "vm" or "container" */
	bool virtualized;      /* a hypervisor is between workload and host */
	bool kernel_isolated;  /* another kernel serves its system calls */
	bool stream, signal, attach, revocation;
	bool shares_host_filesystem; /* the project directory is mounted */
	bool image_override, sandbox_build, sandbox_mounts, host_mounts;
	bool secret_files;
	bool secret_files_from_host_path; /* false */
	bool workspace_provisioning;      /* false: there is no tree to fetch */
	bool resource_limits, pids_limit;
	const char *disk_enforcement; /* "sampled" */
	const char *network_off;      /* "enforced" */
	bool network_egress, filtered_egress, egress_scope;
	bool gated; /* nothing of the workload runs before it was verified */
	bool devices;
	bool interfaces;
	const char *interfaces_reason; /* why not: runtime, ip, nsenter, root; "" = they can */
};

#ifdef __cplusplus
}
#endif

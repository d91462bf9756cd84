/*
 * libcloop: the container executor. Runs workloads in sandboxes of this machine's podman or docker;
 * the whole C API of the seed's package `container` (container-driver.md §22).
 *
 *     struct cloop_container_options o;
 *     cloop_container_options_init(&o);
 *     o.home = "/var/lib/my-service";
 *     cloop_container_new(&o, &container, err);
 *     cloop_container_start(container, NULL, &spec, handle, err);
 *     cloop_container_stream(container, handle, 0, &stream, err);
 *
 * A run outlives the process that started it: its state is a directory of the home and a supervisor
 * of its own. Any process, with an executor of the same home and id, sees and stops it.
 */
#pragma once

#include <cloop/attach.h>
#include <cloop/base.h>
#include <cloop/cancel.h>
#include <cloop/check.h>
#include <cloop/egress.h>
#include <cloop/error.h>
#include <cloop/image.h>
#include <cloop/lease.h>
#include <cloop/options.h>
#include <cloop/runtime.h>
#include <cloop/spec.h>
#include <cloop/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Behind the name of a container that still ran when it was reaped. Seed: ReapedRunningSuffix. */
#define CLOOP_REAPED_RUNNING_SUFFIX " (running)"
/* Bytes of a run's handle, "c-" and 12 hexadecimal digits, NUL included. */
#define CLOOP_HANDLE_SIZE 16

/* ---- Making one ---- */

/* An executor; reference counted, safe to use from several threads at once. Seed: Executor. */
struct cloop_container;
/* Executors by their id; safe to use from several threads at once. Seed: executor.Registry. */
struct cloop_registry;

/*
 * Checks the options and finds the engine (at most 20 s); touches no container, image or network.
 * The caller has one reference. Errors: those of cloop_container_options_normalize() and
 * cloop_runtime_detect(), runtime_remote, io (the home). Seed: New.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_new(const struct cloop_container_options *options,
	struct cloop_container **container, struct cloop_error *err);
/* One more reference; returns its argument, also NULL. */
CLOOP_API struct cloop_container *cloop_container_ref(struct cloop_container *container);
/*
 * One reference less; the last one releases it. Runs go on, but for those in a private home
 * (options.home): these are killed and waited for, at most 30 s in all, and removed with the home;
 * who still reads one's output gets the end of it, or an error. NULL is fine.
 */
CLOOP_API void cloop_container_unref(struct cloop_container *container);

/* An empty registry, released by cloop_registry_free(). */
CLOOP_API CLOOP_MUST_CHECK struct cloop_registry *cloop_registry_new(void);
/* Gives up its references. NULL is fine. */
CLOOP_API void cloop_registry_free(struct cloop_registry *registry);
/* A new reference to the executor of this id, or NULL. registry NULL = the process's own. */
CLOOP_API CLOOP_MUST_CHECK struct cloop_container *cloop_registry_get(
	struct cloop_registry *registry, const char *id);
/*
 * The executor of the options' id in the registry (NULL = the process's own): the one that is
 * there, whatever its other options, else a new one, which is registered. *container is a new
 * reference. The process's own registry keeps its references to the end, so its executors should
 * have a home: a private one would stay in /tmp. Errors as cloop_container_new(): a missing engine
 * is an error, never something else instead. Seed: Ensure.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_ensure(struct cloop_registry *registry,
	const struct cloop_container_options *options, struct cloop_container **container,
	struct cloop_error *err);
/*
 * From now on runs live in this home (absolute; made if it is missing); adopts what it describes:
 * runs whose supervisor died get a new one. May be called again, also with another home. Errors:
 * io, home_*. Seed: Executor.AttachHandleStore.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_attach_home(
	struct cloop_container *container, const char *home, struct cloop_error *err);

/* ---- What it is; none of these asks anybody ---- */

/* Its id, valid as long as it exists. Seed: Executor.ID. */
CLOOP_API const char *cloop_container_id(const struct cloop_container *container);
/* "container"; static. Seed: Executor.Kind. */
CLOOP_API const char *cloop_container_kind(const struct cloop_container *container);
/* The configured image, valid as long as it exists. Seed: Executor.Image. */
CLOOP_API const char *cloop_container_image(const struct cloop_container *container);
/* The low-level runtime, "" = the engine's own; as long as it exists. Seed: Executor.OCIRuntime. */
CLOOP_API const char *cloop_container_oci_runtime(const struct cloop_container *container);
/* The engine that was found; as long as it exists. Seed: Executor.Runtime. */
CLOOP_API const struct cloop_runtime *cloop_container_runtime(
	const struct cloop_container *container);
/* By the name of its low-level runtime. Seed: Executor.KernelIsolated, .Virtualized. */
CLOOP_API bool cloop_container_kernel_isolated(const struct cloop_container *container);
/* By the name of its low-level runtime. Seed: Executor.Virtualized. */
CLOOP_API bool cloop_container_virtualized(const struct cloop_container *container);
/* true: a revocation issued now is carried out. Seed: Executor.SupportsRevocation. */
CLOOP_API bool cloop_container_supports_revocation(const struct cloop_container *container);
/* What it can do (§20), valid as long as it exists. Seed: Executor.Capabilities. */
CLOOP_API const struct cloop_capabilities *cloop_container_capabilities(
	const struct cloop_container *container);

/* ---- Whether it works ---- */

/*
 * The engine answers (at most 20 s). Errors: engine_failed, engine_timeout, docker_userns,
 * cancelled. Seed: Executor.HealthCheck.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_health_check(struct cloop_container *container,
	const struct cloop_cancel *cancel, struct cloop_error *err);
/*
 * Everything that could keep a run from working, as findings (§19.1); 20 s per question at most.
 * work_dir: a project to judge, NULL or "" = none. Fails only with cancelled.
 * Seed: Executor.Preflight.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_preflight(struct cloop_container *container,
	const struct cloop_cancel *cancel, const char *work_dir,
	struct cloop_preflight_report **report, struct cloop_error *err);
/*
 * Runs `cloop version` in a sandbox (§19.2); cancel bounds its start, once it runs it has 120 s.
 * work_dir: NULL or "" = a directory made for it. *result is filled on failure, too, as far as it
 * came (NULL: it did not begin). Errors: those of cloop_container_start(), init_failed, cancelled.
 * Seed: Executor.SmokeTest.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_smoke_test(struct cloop_container *container,
	const struct cloop_cancel *cancel, const char *work_dir, struct cloop_smoke_result **result,
	struct cloop_error *err);
/*
 * Digest form "repository@sha256:…" of an image in the engine's store. 0: *digest, released by
 * cloop_string_free(). 1: the image is there and has none. Asks the engine, at most 30 s. Errors:
 * image_missing, engine_*, cancelled. Seed: Executor.ResolveDigest.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_resolve_digest(struct cloop_container *container,
	const struct cloop_cancel *cancel, const char *ref, char **digest, struct cloop_error *err);
/*
 * The reference pinned to a digest where there is one, else as it was given; released by
 * cloop_string_free(). Errors as above. Seed: Executor.ResolveImage.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_resolve_image(struct cloop_container *container,
	const struct cloop_cancel *cancel, const char *ref, char **pinned, struct cloop_error *err);

/* ---- Runs ---- */

/*
 * Starts a run and returns when the workload runs or is refused (then nothing of it is left but,
 * of one that came so far, its record: `start_failed`); cancel bounds only that. Without one it
 * takes start_timeout_seconds of the options at most, and before that 30 s per question to the
 * engine, half an hour for building an image. handle is "" on failure. Errors: spec errors (400),
 * what this executor does not hold (409), those of the start (§10.4), start_cancelled. Seed:
 * Executor.Start.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_start(struct cloop_container *container,
	const struct cloop_cancel *cancel, const struct cloop_spec *spec,
	char handle[CLOOP_HANDLE_SIZE], struct cloop_error *err);

/* What cloop_container_signal() delivers (§14). */
enum cloop_signal {
	CLOOP_SIGNAL_INTERRUPT = 0, /* SIGINT to the workload's process group */
	CLOOP_SIGNAL_TERMINATE = 1, /* SIGTERM, the same */
	CLOOP_SIGNAL_KILL = 2       /* ends the sandbox; the outcome is `cancelled` */
};

/*
 * Delivers a signal. 0 also when the run has ended: nothing is to be done. Waits for the run's
 * supervisor, at most 75 s. Errors: handle_invalid,
 * handle_not_found, signal_invalid, signal_failed, cancelled. Seed: Executor.Signal.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_signal(struct cloop_container *container,
	const struct cloop_cancel *cancel, const char *handle, enum cloop_signal signal,
	struct cloop_error *err);

/* States of a run; the last three are final. */
enum cloop_state {
	CLOOP_STATE_UNKNOWN = 0, /* the engine does not answer; asked again */
	CLOOP_STATE_PENDING = 1,
	CLOOP_STATE_RUNNING = 2,
	CLOOP_STATE_EXITED = 3,
	CLOOP_STATE_FAILED = 4, /* it never ran, or was lost */
	CLOOP_STATE_KILLED = 5
};

/* A run, as its record says. Filled by the library. Texts are never NULL. Seed: executor.Status. */
struct cloop_status {
	const char *handle;
	const char *executor_id;
	enum cloop_state state;
	/*
	 * "" = none yet; ok, nonzero, signal, timeout, oom, disk_limit, revoked, cancelled, lost,
	 * start_failed: from the kernel and our own decisions, never guessed from an exit code.
	 */
	const char *outcome;
	int exit_code; /* -1 = none */
	int signal;    /* number; 0 = none */
	const char *project, *image, *image_digest;
	const char *error_code, *error, *remediation; /* why it did not start; "" = it did */
	const char *started_at, *finished_at;         /* RFC 3339; "" = not yet */
	const char *json;                             /* the whole record (architecture §6) */
};

/* Released by cloop_status_free(). Errors: handle_invalid, handle_not_found, io.
 * Seed: Executor.Status. */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_status(struct cloop_container *container,
	const char *handle, struct cloop_status **status, struct cloop_error *err);
CLOOP_API void cloop_status_free(struct cloop_status *status);
/* Releases a list that ends with NULL, and its entries. */
CLOOP_API void cloop_statuses_free(struct cloop_status **statuses);
/*
 * Output of a run: all frames with seq > since_seq (0 = from the beginning), then what comes, until
 * the end. Released by cloop_stream_free(). Errors: handle_invalid, handle_not_found, io. Seed:
 * Executor.Stream.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_stream(struct cloop_container *container,
	const char *handle, uint64_t since_seq, struct cloop_stream **stream,
	struct cloop_error *err);
/*
 * Opens a session in a running sandbox, released by cloop_attach_free(). Waits for the supervisor,
 * at most 75 s. Errors: argv_*,
 * handle_invalid, handle_not_found, attach_closed, attach_busy (four at most), cancelled.
 * Seed: Executor.Attach.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_attach(struct cloop_container *container,
	const struct cloop_cancel *cancel, const struct cloop_attach_request *request,
	struct cloop_attach **attach, struct cloop_error *err);
/*
 * Handles of this executor's runs in its home, newest first; released by cloop_strings_free(). Asks
 * no engine. Errors: io. Seed: Executor.Handles.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_handles(
	struct cloop_container *container, char ***handles, struct cloop_error *err);
/*
 * The same with their statuses, from the records alone; released by cloop_statuses_free().
 * Seed: Executor.HandleStatuses.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_handle_statuses(struct cloop_container *container,
	struct cloop_status ***statuses, struct cloop_error *err);
/*
 * Removes containers of this home that nobody looks after (§16.3): ended ones at once, running ones
 * of this executor once they are older than the grace period; adopts runs whose supervisor died.
 * *names is filled on failure, too: sorted, running ones with CLOOP_REAPED_RUNNING_SUFFIX; released
 * by cloop_strings_free(). At most 30 s for each list that it asks the engine for, a minute for
 * each removal. Errors: engine_*, cancelled. Seed: Executor.ReapOrphans.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_reap_orphans(struct cloop_container *container,
	const struct cloop_cancel *cancel, char ***names, struct cloop_error *err);

/* ---- Leases ---- */

/* A run that has not ended was started with material of this lease. Seed: Executor.HoldsLease. */
CLOOP_API bool cloop_container_holds_lease(struct cloop_container *container, const char *lease);
/*
 * Leases that runs which have not ended hold, sorted, each once; released by cloop_strings_free().
 * Errors: io. Seed: Executor.Leases.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_leases(
	struct cloop_container *container, char ***leases, struct cloop_error *err);
/*
 * Takes a lease back from every run of this executor that holds it, one after the other, and waits
 * until that is done, at most 150 s for each. An outcome, never NULL, not an error; released by
 * cloop_revoke_outcome_free(). A cancel makes it CLOOP_REVOKE_UNREACHABLE; what was begun is still
 * carried out. Seed: Executor.RevokeLease.
 */
CLOOP_API CLOOP_MUST_CHECK struct cloop_revoke_outcome *cloop_container_revoke_lease(
	struct cloop_container *container, const struct cloop_cancel *cancel,
	const struct cloop_revoke_request *request);
/*
 * Revocations that went through this object, oldest first, the last 256; released by
 * cloop_revoke_outcomes_free(), never NULL. An entry is there before anything is wiped. The list is
 * in memory only: it ends with the object, and another object or process has one of its own. What
 * lasts of a revocation is what the runs' own records and logs say of it.
 * Seed: Executor.Revocations.
 */
CLOOP_API CLOOP_MUST_CHECK struct cloop_revoke_outcome **cloop_container_revocations(
	struct cloop_container *container);

/* ---- Audit: what would be done, without an engine ---- */

/*
 * The network word that the build of an image for spec->setup would get (image-trust.md §11);
 * released by cloop_string_free(). Pure but for reading work_dir's owner. Errors: those of the
 * options and of the spec. Seed: AuditBuildNetwork.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_audit_build_network(
	const struct cloop_container_options *options, const struct cloop_spec *spec,
	char **network, struct cloop_error *err);
/*
 * The exact words of the engine's command line (§6.2) for a spec in work_dir, which must exist (its
 * owner becomes the workload's user); spec->work_dir is not looked at. The run is called
 * c-000000000000. Released by cloop_strings_free(). Starts nothing. Errors: the first in the order
 * of §6.5. Seed: AuditRunArgv.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_audit_run_argv(
	const struct cloop_container_options *options, const struct cloop_audit_runtime *runtime,
	const char *work_dir, const struct cloop_spec *spec, char ***argv, struct cloop_error *err);

/* Credentials that were staged for an audit. */
struct cloop_staging;
/*
 * Stages spec->secret_files as a start does (§15.1) and builds the command line that mounts them.
 * *staging must be released by cloop_staging_cleanup(), which wipes them: without it they stay on
 * the host in plain text. Errors: as above, secret_*. Seed: AuditSecretStaging.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_container_audit_secret_staging(
	const struct cloop_container_options *options, const struct cloop_audit_runtime *runtime,
	const char *work_dir, const struct cloop_spec *spec, struct cloop_staging **staging,
	struct cloop_error *err);
/* The command line, ends with NULL; the staging's own. */
CLOOP_API const char *const *cloop_staging_argv(const struct cloop_staging *staging);
/* Directories of the host that hold the files, ends with NULL; the staging's own. */
CLOOP_API const char *const *cloop_staging_dirs(const struct cloop_staging *staging);
/* Wipes the files, removes the directories and releases the staging. NULL is fine. */
CLOOP_API void cloop_staging_cleanup(struct cloop_staging *staging);

#ifdef __cplusplus
}
#endif

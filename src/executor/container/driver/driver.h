/*
 * The container executor: podman or docker of this machine (container-driver.md). One object holds
 * the normalized options and the engine that was found; runs live in their directories and are
 * kept by cloop-shim (../supervise).
 */
#pragma once

#include "executor/container/argv.h"
#include "executor/container/driver/client.h"
#include "executor/executor.h"
#include "image/provenance.h"
#include "net/egress-filter.h"

/* What the operator's configuration says besides the options. What is pointed to is borrowed. */
struct container_settings {
	const struct egress_filter *filter; /* NULL: none */
	const struct image_policy *policy;
	const struct provenance_rules *provenance;
	uint64_t derived_image_days; /* unused images for setup are reaped; 0 = never */
	bool egress_enabled;         /* sessions under egress grants can be opened */
};

struct container_driver {
	char *home;                       /* cloop's; may be NULL: facts and checks only */
	struct container_options options; /* normalized */
	struct runtime runtime;
	struct container_settings settings;
};

/*
 * Finds the engine and makes the executor. options must be normalized; copied, as settings, of
 * which what they point to must outlive it. Errors: those of runtime_detect().
 */
must_check int container_driver_open(const char *home, const struct container_options *options,
	const struct container_settings *settings, struct executor **ret, struct error *err);
/*
 * The same with an engine that is described and not looked for, for who wants to know what would be
 * done with it: no engine is asked by making one. Takes what *runtime holds, in any case.
 */
must_check int container_driver_open_for(const char *home, const struct container_options *options,
	const struct container_settings *settings, struct runtime *runtime, struct executor **ret,
	struct error *err);
/* The driver behind an executor of kind "container"; NULL for others. */
struct container_driver *container_driver_of(const struct executor *e);

/* The operator's egress filter; one that opens nothing and is off where there is none. */
const struct egress_filter *container_driver_filter(const struct container_driver *d);

/* start.c: the start operation. */
must_check int container_driver_start(const struct executor *e, const struct executor_start *start,
	char ret_handle[EXECUTOR_HANDLE_SIZE], struct error *err);
/*
 * What would refuse the start before anything is leased (sandbox-spec.md §9.1): mounts, the disk
 * limit, the image, of which none is built. `start` may lack its lease. Makes nothing.
 */
must_check int container_driver_precheck(
	const struct executor *e, const struct executor_start *start, struct error *err);
/*
 * The engine line that a start would use, with handle c-000000000000 (§6.1), and its network. Looks
 * the image up in the engine's store; starts nothing.
 */
struct run_image;
struct plan_network;
must_check int container_driver_explain(const struct executor *e,
	const struct executor_start *start, struct argv_line *ret, struct run_image *ret_image,
	struct plan_network *ret_network, struct error *err);

/*
 * The same line without an engine, for the image as it is asked for. *ret_stage, the caller's:
 * where the files of the lease would lie on the host; NULL = there are none.
 */
must_check int container_driver_audit(const struct executor *e, const struct executor_start *start,
	struct argv_line *ret, char **ret_stage, struct error *err);

/* capabilities.c, checks.c */
void container_driver_capabilities(const struct executor *e, struct candidate *ret);
must_check int container_driver_preflight(
	const struct executor *e, const char *work_dir, json_t **ret, struct error *err);
must_check int container_driver_smoke_test(
	const struct executor *e, const char *work_dir, json_t **ret, struct error *err);
/* attach.c */
must_check int container_driver_attach(const struct executor *e, const char *home,
	const char *handle, const struct executor_attach *how, int *ret_fd, struct error *err);
/* reap.c */
must_check int container_driver_reap(
	const struct executor *e, const char *home, struct strv *ret_names, struct error *err);
/*
 * Only what is left of this run. An engine that answers nothing is not waited for after `until`
 * (boottime; 0 = no such end), and one that does not remove for five seconds.
 */
must_check int container_driver_reap_run(const struct executor *e, const char *home,
	const char *handle, int64_t until, struct error *err);

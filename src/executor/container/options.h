/*
 * Options of a container executor: section executors.container of config.yaml
 * (container-driver.md §3).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strv.h"

enum { OPTIONS_GROUPS_MAX = 16, OPTIONS_ALLOW_HOSTS_MAX = 64, OPTIONS_EXTRA_ARGS_MAX = 32 };
enum { CONTAINER_PIDS_DEFAULT = 1024 };

#define CONTAINER_DEFAULT_ID "container"
#define CONTAINER_DEFAULT_IMAGE "ghcr.io/blechschmidt/cloop-harness:latest"

/* "The key is absent" for the numbers of which every other value means something. */
#define OPTION_ABSENT INT64_MIN

/*
 * Before container_options_normalize() a string may be NULL (= the key is absent), a number raw,
 * and the three bounded ones (start_timeout_seconds, stop_grace_seconds, log_max_mb) OPTION_ABSENT.
 */
struct container_options {
	char *id;
	char *runtime;     /* "", "podman", "docker" or an absolute path */
	char *oci_runtime; /* "" = the engine's own */
	uint32_t group_add[OPTIONS_GROUPS_MAX + 1];
	size_t n_group_add;
	char *image;
	char *network;
	uint64_t cpu_millis;
	uint64_t memory_mb;
	int64_t pids_limit;         /* 0 = default; negative = unlimited; normalized: -1 or 1… */
	char *selinux_label;        /* "", "z", "Z" */
	bool egress_filter_enabled; /* the filter's own keys come with the network area */
	struct strv allow_hosts;
	struct strv extra_args;
	int64_t orphan_grace_period_seconds;
	int64_t start_timeout_seconds;
	int64_t stop_grace_seconds;
	int64_t log_max_mb;
	bool allow_root_user;
	bool protect_project_files;
};
/* All keys absent: defaults of booleans set, everything else "not given". */
void container_options_init(struct container_options *o);
void container_options_done(struct container_options *o);
/*
 * A checked copy with all defaults filled in (§3, first error in table order). `in` is not changed;
 * *ret must be initialised or empty and is owned by the caller. No I/O.
 */
must_check int container_options_normalize(
	const struct container_options *in, struct container_options *ret, struct error *err);
/*
 * Reads an option object as cases and the C API write it (`memory_mb`, not `memory`; integers or
 * decimal text where §3 says so). JSON null is an absent key. Unknown keys are errors before all
 * others; then the first error in table order, of type or of value. *ret is as for normalize, and
 * holds what was given, without defaults.
 */
must_check int container_options_from_json(
	const json_t *object, struct container_options *ret, struct error *err);

/* Row 7 from its text: a decimal of at most 3 decimals, 0 to 1024, in thousandths. */
must_check int container_options_cpus(struct text t, uint64_t *ret_millis, struct error *err);

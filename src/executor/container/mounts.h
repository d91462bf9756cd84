/*
 * What of the host a sandbox sees: which directories and files are mounted where, in which order,
 * and how each is written for an engine (container-driver.md §6.2 row 20, §7.1, §7.2). Pure: paths
 * come resolved.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "executor/container/options.h"
#include "executor/container/request.h"
#include "executor/container/runtime.h"

enum { MOUNTS_PER_LIST_MAX = 16 };

/* SELinux relabelling of a mount's source, as the option writes it. */
enum mount_label { MOUNT_LABEL_NONE = 0, MOUNT_LABEL_SHARED = 'z', MOUNT_LABEL_PRIVATE = 'Z' };

struct mount_text {
	struct text source, target;
	bool read_only;
	enum mount_label label;
};
/*
 * Appends the engine's argument for one bind mount. path_unsupported: the engine cannot be told
 * these bytes (no UTF-8, NUL, CR LF; with docker and a label also `:`).
 */
must_check int mount_render(
	enum engine engine, const struct mount_text *m, struct str *ret, struct error *err);

/* Whose mount it is. Secret directories, mounts of the file and repositories may not meet. */
enum mount_owner { MOUNT_OURS, MOUNT_SECRET, MOUNT_FILE, MOUNT_REPOSITORY };

struct mount {
	char *source; /* host path; owned, as are target and word */
	char *target;
	char *word; /* the engine's argument */
	bool read_only;
	enum mount_owner owner;
};
struct mount_list {
	struct mount *v;
	size_t n;
};
void mount_list_done(struct mount_list *l);

struct mount_plan {
	enum engine engine;
	const struct container_options *options; /* normalized */
	const struct container_request *request;
	struct text guest; /* GUEST */
	bool standalone;   /* no control socket; the init under its other name (§9.2) */
	bool network_off;  /* an empty resolv.conf is mounted */
};
/*
 * All mounts of a run in rendering order. Errors in the order of §6.5: mounts_too_many, then per
 * mount secret_dir_invalid, mount_invalid, reserved_target; duplicate_target; nested_target;
 * mount_escapes, mount_source_protected, host_mount_overlaps_project, protected_path_unsafe;
 * path_unsupported.
 */
must_check int mount_list_make(
	const struct mount_plan *plan, struct mount_list *ret, struct error *err);

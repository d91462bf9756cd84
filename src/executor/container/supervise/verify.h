/*
 * Judging the sandbox before its first instruction: the peer that connected, its mounts, limits,
 * environment and confinement, all read from the kernel, not from the engine
 * (container-driver.md §9.3-§9.7). Every function reads and changes nothing.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strv.h"
#include "executor/container/argv.h"
#include "limits/limits.h"
#include "sys/cgroup.h"

/* A mount of the engine line: `source_fd` (O_PATH) is what was opened when it was judged. */
struct verify_mount {
	const char *target;
	bool read_only;
	int source_fd;
};

struct verify {
	pid_t pid;
	const char *container_id; /* 64 hexadecimal digits */
	int guest_fd;             /* GUEST, open */
	const struct verify_mount *mounts;
	size_t n_mounts;
	const struct strv *also_fine; /* targets of image volumes and granted devices */
	const struct strv *env;       /* NAME=VALUE that the init must have, exactly once each */
	struct argv_limits asked;     /* as on the engine line */
	uid_t uid;
	gid_t gid;
};

/* 0 it is the init of our container, 1 it is something else (§9.3). */
must_check int verify_peer(const struct verify *v, struct error *err);
/*
 * The same for a process that let its workload go and shows no file any more (§23.2): PID 1 of a
 * namespace, with a mount of our container. What an engine calls the container's process may be
 * long gone and its number somebody else's.
 */
must_check bool verify_adopted(pid_t pid, const char *container_id);
/* mount_changed, unexpected_mount (§9.3, §9.4). */
must_check int verify_mounts(const struct verify *v, struct error *err);
/*
 * limits_not_applied (§9.5). ret_effective: what was read, only of what was asked. g: the groups of
 * the init.
 */
must_check int verify_limits(const struct verify *v, const struct cgroup *g,
	struct limits *ret_effective, struct error *err);
/*
 * env_mismatch, naming the variable only (§9.6). *ret_path: the PATH that a command is looked for
 * on, the caller's; NULL = it has none.
 */
must_check int verify_environment(const struct verify *v, char **ret_path, struct error *err);
/* confinement_mismatch (§9.7). */
must_check int verify_confinement(const struct verify *v, struct error *err);

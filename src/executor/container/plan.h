/*
 * What dispatch decided about one run, handed to its supervisor: `request.json` of the run
 * directory. No secret value is in it; those travel beside it in a `struct launch`, which exists
 * in memory only (launch.h).
 */
#pragma once

#include <sys/types.h>

#include "base/json.h"
#include "base/strv.h"
#include "executor/container/runtime.h"
#include "executor/container/argv.h"
#include "executor/container/plan-hardware.h"
#include "executor/container/plan-disk.h"
#include "executor/container/plan-egress.h"
#include "executor/container/plan-lease.h"
#include "executor/container/plan-network.h"

enum { PLAN_MOUNTS_MAX = 64, PLAN_WORDS_MAX = 8192 };

/* Who brings the source of a mount about. */
enum plan_mount_kind {
	PLAN_MOUNT_GIVEN,  /* opened by dispatch, descriptor handed over */
	PLAN_MOUNT_MAKE,   /* missing below the workspace: made by the supervisor (§9.1 step 10) */
	PLAN_MOUNT_GUEST,  /* the init's file */
	PLAN_MOUNT_CTL,    /* RUN/ctl */
	PLAN_MOUNT_HOSTS,  /* RUN/hosts */
	PLAN_MOUNT_RESOLV, /* RUN/resolv.conf */
	PLAN_MOUNT_STAGE,  /* the stage of the lease's files (§15.1) */
	PLAN_MOUNT_KIND_COUNT
};

struct plan_mount {
	enum plan_mount_kind kind;
	char *source; /* resolved path as in argv; PLAN_MOUNT_MAKE: relative to the workspace */
	char *target;
	bool read_only;
};

struct plan {
	char *handle, *executor_id, *project, *container_name, *image, *guest;
	uid_t uid; /* identity of the workload, in numbers of the host */
	gid_t gid;
	struct runtime runtime;
	bool standalone;         /* no init of ours is asked (§9.2) */
	bool virtualized;        /* a standalone one with a memory of its own (Kata) */
	struct strv engine_argv; /* the engine line, argv[0] = path of the engine */
	struct strv client_env;  /* environment of every engine call; nothing of the workload */
	struct strv command;
	struct strv volumes;                       /* targets of the image's VOLUME list */
	struct plan_mount mounts[PLAN_MOUNTS_MAX]; /* first: the workspace */
	size_t n_mounts;
	struct argv_limits asked; /* as on the engine line */
	char *hosts;              /* text of RUN/hosts */
	struct strv absent; /* protected project paths that were absent at the start (§7.2) */
	struct strv redact; /* names of variables whose values are masked in the output */
	struct plan_lease lease;
	struct plan_egress egress;
	struct plan_disk disk;
	struct plan_hardware hardware;
	struct plan_network network;
	int64_t start_timeout_ms, stop_grace_ms, timeout_ms, log_max_mb; /* timeout 0 = none */
	int64_t min_free_mb; /* floor of free space (disk-and-secrets.md §11); 0 = off */
};
#define PLAN_INIT \
	((struct plan){.engine_argv = STRV_INIT(PLAN_WORDS_MAX), \
		.client_env = STRV_INIT(64), \
		.command = STRV_INIT(PLAN_WORDS_MAX), \
		.volumes = STRV_INIT(256), \
		.absent = STRV_INIT(16), \
		.redact = STRV_INIT(512), \
		.disk = PLAN_DISK_INIT, \
		.network = PLAN_NETWORK_INIT})
void plan_done(struct plan *p);

/* -1 when the list of mounts is full. Strings are copied. */
must_check int plan_add_mount(struct plan *p, enum plan_mount_kind kind, const char *source,
	const char *target, bool read_only);

must_check json_t *plan_to_json(const struct plan *p);
/* Errors: io, naming the member that is missing or of the wrong type. ret: PLAN_INIT. */
must_check int plan_from_json(json_t *request, struct plan *ret, struct error *err);

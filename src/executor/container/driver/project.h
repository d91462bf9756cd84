/*
 * The project directory of a run: resolved, opened, and everything below it that is mounted
 * (container-driver.md §7.1-§7.3, sandbox-spec.md §7.1 "At start"). Reads only; what is missing is
 * made later by the supervisor.
 */
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strv.h"
#include "executor/container/options.h"
#include "executor/container/request.h"
#include "executor/container/runtime.h"

struct project {
	char *path; /* resolved */
	int fd;     /* O_PATH */
	uid_t uid;  /* identity of the workload: the owner, or (rootless) ourselves */
	gid_t gid;
	enum path_kind files[PROJECT_FILE_COUNT]; /* as lstat says; .git/hooks counts as made */
	bool make_hooks;                          /* .git/hooks is missing and will be made */
};
#define PROJECT_INIT ((struct project){.fd = -1})
void project_done(struct project *p);

/*
 * Opens dir. Errors: work_dir_missing, not_a_project (also when a link was put on its way since it
 * was resolved). Whether the path and the owner are acceptable is argv_build()'s to say.
 */
must_check int project_open(
	const char *dir, const struct runtime *runtime, struct project *ret, struct error *err);
/* owner_not_self: docker's caller is not root and cannot hand pipes to the owner (§7.3). */
must_check int project_check_owner(
	const struct project *p, const struct runtime *runtime, struct error *err);

/* A mount source of the file, opened or found missing. */
struct project_source {
	char *path;     /* resolved, absolute; for a missing one: where it will be */
	char *relative; /* missing: what is to be made, below the workspace; else NULL */
	int fd;         /* O_PATH; -1 when missing */
};
#define PROJECT_SOURCE_INIT ((struct project_source){.fd = -1})
void project_source_done(struct project_source *s);
/*
 * m: source relative to the workspace, as the file has it. Errors: mount_escapes,
 * mount_source_protected, mount_source_type, mount_source_unreadable, mount_target_missing.
 */
must_check int project_open_source(const struct project *p, const struct request_mount *m,
	struct project_source *ret, struct error *err);
/*
 * A granted repository, opened. The lease has resolved `source`; a link in it now was put there
 * meanwhile, by who may write below its root. Errors: mount_source_missing, mount_changed,
 * mount_source_type, mount_source_unreadable.
 */
must_check int project_open_repository(
	const struct request_mount *m, struct project_source *ret, struct error *err);
/* One of the protected files, O_PATH, without following a link; -1 + err. */
must_check int project_open_file(const struct project *p, enum project_file f, struct error *err);

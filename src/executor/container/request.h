/*
 * What the argv builder gets: one run, decided, with resolved paths (container-driver.md §1, `spec`
 * of an argv case). The struct borrows everything; whoever fills it owns the memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strv.h"
#include "base/text.h"
#include "limits/limits.h"

struct request_mount {
	struct text name; /* host_mounts: the repository's name; else empty */
	struct text source;
	struct text target;
	bool read_only;
};

struct request_device {
	struct text name, source, target, permissions; /* target, permissions: empty = default */
};

struct request_interface {
	struct text name, source, target, address, gateway;
	int64_t mtu;
};

struct request_label {
	struct text key, value;
};

/* What lstat says of a protected path (§7.2). */
enum path_kind { PATH_ABSENT, PATH_DIR, PATH_FILE, PATH_SYMLINK, PATH_OTHER, PATH_KIND_COUNT };

/* The protected paths of §7.2, in mount order. */
enum project_file {
	PROJECT_GIT,
	PROJECT_GIT_CONFIG,
	PROJECT_GIT_CONFIG_WORKTREE,
	PROJECT_GIT_COMMONDIR,
	PROJECT_GIT_HOOKS,
	PROJECT_GIT_MODULES,
	PROJECT_GIT_WORKTREES,
	PROJECT_CLOOP,
	PROJECT_CLOOP_SANDBOX,
	PROJECT_FILE_COUNT
};
/* ".git/config" … */
const char *project_file_path(enum project_file f);

struct container_request {
	struct text handle;
	struct text run_dir;
	struct text work_dir;
	uid_t owner_uid;
	gid_t owner_gid;
	const struct text *argv;
	size_t n_argv;
	struct text image;      /* digest form or ID */
	bool image_user;        /* it names a USER, which rootless podman would follow */
	const struct text *env; /* NAME=VALUE; may hold NUL or lack '=' (then refused) */
	size_t n_env;
	bool has_limits; /* false: the executor's defaults */
	struct limits limits;
	bool disable_network;
	struct text egress_scope; /* "", "public", "none" */
	struct text network;      /* made for this run; "" = the option */
	const struct text *dns;
	size_t n_dns;
	bool ipv6;
	const struct request_mount *mounts;
	size_t n_mounts;
	const struct request_mount *host_mounts;
	size_t n_host_mounts;
	const struct request_mount *secret_dirs; /* source, target */
	size_t n_secret_dirs;
	bool guest_binary; /* smoke test: GUEST at /usr/local/bin/cloop too */
	const struct request_device *devices;
	size_t n_devices;
	const struct request_interface *interfaces;
	size_t n_interfaces;
	const struct request_label *labels;
	size_t n_labels;
	struct text sandbox_sha256; /* "" = none */
	enum path_kind project_files[PROJECT_FILE_COUNT];
};

/* Facts of the host that the builder needs (§1, `host`). */
struct request_host {
	struct text home_id;
	unsigned cpus;
	int64_t nofile_hard; /* own hard limits; -1 = unlimited */
	int64_t nproc_hard;
	int64_t pid_max;
	struct text guest;      /* GUEST, the init's file */
	struct text user_home;  /* the user's home directory */
	struct text cloop_home; /* cloop's home */
};

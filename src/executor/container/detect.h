/*
 * Finding the engine once (container-driver.md §4.1, §4.2). The decision is a function of what a
 * probe tells; runtime_detect() asks the system.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"
#include "executor/container/runtime.h"

enum { DETECT_DIRS_MAX = 256, DETECT_TIMEOUT_MS = 20000 };

struct detect_dir {
	uid_t owner_uid;
	mode_t mode;
};
/* An engine's program as it lies there. */
struct detect_file {
	char *path; /* absolute; owned */
	uid_t owner_uid;
	mode_t mode;
	bool regular, executable;
	struct detect_dir dirs[DETECT_DIRS_MAX]; /* every directory on the way, links included */
	size_t n_dirs;
};
void detect_file_done(struct detect_file *f);

/* Where facts come from. */
struct detect_probe {
	/* The program of a bare name on the filtered PATH, or at an absolute path; false: none. */
	bool (*find)(void *data, const char *key, struct detect_file *ret);
	/* The output of PROGRAM --version; asked only of a program that is safe. */
	int (*version)(void *data, enum engine engine, const char *path, struct str *ret,
		struct error *err);
	void *data;
};

/*
 * The decision of §4.1. configured: "", a name, or an absolute path. Errors, in order:
 * runtime_unsupported (name), runtime_missing, runtime_unsafe, runtime_masquerade,
 * runtime_unsupported (version), and those of the probe.
 */
must_check int detect_decide(const char *configured, uid_t euid, const struct detect_probe *probe,
	struct runtime *ret, struct error *err);
/*
 * The same on this host. Also engine_timeout, when --version takes more than 20 s. home: cloop's,
 * where the answer is kept as long as the program is the same file; NULL = ask.
 */
must_check int runtime_detect(
	const char *configured, const char *home, struct runtime *ret, struct error *err);

/* unix://… or runtime_remote: bind mounts of another machine would be another machine's files. */
must_check int detect_check_endpoint(struct text endpoint, struct error *err);
/*
 * Fills runtime->endpoint of a docker runtime, once: DOCKER_HOST, else the endpoint of the user's
 * docker context. Does nothing for podman. Errors: runtime_remote, engine_failed, engine_timeout.
 */
must_check int runtime_resolve_endpoint(struct runtime *runtime, struct error *err);
/*
 * The answer of `docker info --format={{json .}}` without a word of the daemon's: what the client
 * has to say about that, else NULL. Debian's client (20.10) ends with 0 all the same.
 */
const char *detect_docker_silence(const json_t *info);
/*
 * Judges the answer: docker_userns when the daemon is rootless or remaps user namespaces (a
 * project's uid would be another uid outside); engine_unreachable and the like when there is no
 * daemon (§10.4); engine_failed when the answer cannot be read.
 */
must_check int detect_check_docker_info(struct text json, struct error *err);

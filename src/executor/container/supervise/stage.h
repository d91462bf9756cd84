/*
 * The stage of a run: the directory of a tmpfs that holds the files of its lease, mounted read-only
 * in the sandbox (container-driver.md §15.1, §15.5). Its end is stage-wipe.h.
 */
#pragma once

#include <sys/types.h>

#include "base/secret.h"
#include "executor/rundir/rundir.h"

struct stage {
	int fd; /* the directory; -1 = none */
	bool chown;
	uid_t uid; /* of the files, where `chown` */
	gid_t gid;
};
#define STAGE_INIT ((struct stage){.fd = -1})
/* Closes it; the files stay. */
void stage_done(struct stage *s);

struct stage_file {
	const char *name;
	mode_t mode;
	struct text content;
};

/*
 * Makes the directory `path` (stage_record_choose) with its files: on record before it exists,
 * given to the sandbox where s->chown, itself last. Errors: secret_stage_unavailable (no tmpfs),
 * secret_stage_failed; what was made by then stays on record for stage_wipe_run().
 */
must_check int stage_make(struct stage *s, const struct rundir *run, const char *path,
	const struct stage_file *files, size_t n, struct error *err);
/* Opens what is on record: 0, 1 = there is none any more, -1: secret_stage_failed, io. */
must_check int stage_open(struct stage *s, const struct rundir *run, struct error *err);
/* Content of a file, at most 256 KiB: 0, 1 = it is not there, -1: secret_stage_failed. */
must_check int stage_read(
	const struct stage *s, const char *name, struct secret *ret, struct error *err);
/* Puts another content in a file's place at once: temporary file and rename. */
must_check int stage_replace(
	const struct stage *s, const struct stage_file *file, struct error *err);

/*
 * RUN/stage.json: where the files of a run's lease lie on the host (container-driver.md §15.1).
 * It is there before the directory is, and goes after it, so whoever looks at a dead run finds
 * what has to be wiped. Nothing that is not in such a file is ever touched.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "executor/rundir/rundir.h"

struct stage_record {
	char *path; /* one component cloop-lease-<24 hex> below a stage root */
	bool made;  /* device and inode of the directory are known */
	dev_t device;
	ino_t inode;
};
#define STAGE_RECORD_INIT ((struct stage_record){.path = NULL})
void stage_record_done(struct stage_record *r);

/*
 * A new name below the first root that is a tmpfs we may write to: /dev/shm, else $XDG_RUNTIME_DIR.
 * Nothing is made. Caller frees; NULL: secret_stage_unavailable, never a disk.
 */
must_check char *stage_record_choose(struct error *err);
/*
 * Opens the root that the path lies in (O_PATH), and tells where in it the last component begins.
 * -1: the path is not of the form, or its root is none of ours.
 */
must_check int stage_record_open_root(const char *path, const char **ret_name);

/* made = NULL: the directory is about to be made, and this is synced before that. */
must_check int stage_record_write(
	const struct rundir *run, const char *path, const struct stat *made, struct error *err);
/* 0, 1 = the run has none, -1: it cannot be read. */
must_check int stage_record_read(
	const struct rundir *run, struct stage_record *ret, struct error *err);
/* A power cut took what it says, and the tmpfs with what was staged. */
bool stage_record_lost(const struct rundir *run);
/* The run has one; costs one system call. */
bool stage_record_exists(const struct home *h, const char *handle);
void stage_record_remove(const struct rundir *run);

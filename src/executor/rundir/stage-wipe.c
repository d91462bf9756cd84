#include "executor/rundir/stage-wipe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "executor/rundir/record.h"
#include "executor/rundir/stage-record.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/log.h"

enum { FD_PATH_SIZE = 32, ZEROS = 65536, OVERWRITE_MAX = 1 << 20 };

/* A file's own mode may forbid its owner to write, and a path could be another file by now. */
static int open_to_write(int held)
{
	char path[FD_PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", held);
	chmod(path, 0600);
	return open(path, O_WRONLY | O_CLOEXEC);
}

/* Our files are small; one that somebody made larger is not filled up. */
static int overwrite(int held, off_t size, struct error *err)
{
	static const char zeros[ZEROS];
	off_t left = size < OVERWRITE_MAX ? size : OVERWRITE_MAX;

	auto_fd int fd = open_to_write(held);
	if (fd < 0)
		return error_set_errno(err, ERROR_SECRET_STAGE_FAILED, errno, "opening");
	for (; left > 0; left -= left < ZEROS ? left : ZEROS)
		if (file_write_all(fd, zeros, (size_t)(left < ZEROS ? left : ZEROS), err) < 0)
			return -1;
	if (fdatasync(fd) < 0)
		return error_set_errno(err, ERROR_SECRET_STAGE_FAILED, errno, "syncing");
	return 0;
}

int stage_wipe_file(int dir, const char *name, struct error *err)
{
	struct stat seen, opened;
	auto_fd int held = -1;
	int r = 0;

	if (fstatat(dir, name, &seen, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT
			       ? 0
			       : error_set_errno(err, ERROR_SECRET_STAGE_FAILED, errno,
					 "looking at the staged file %s", quoted_string(name));
	if (!S_ISREG(seen.st_mode) && !S_ISLNK(seen.st_mode))
		return error_set(err, ERROR_SECRET_STAGE_FAILED,
			"%s in the stage of a lease is no file", quoted_string(name));
	if (S_ISREG(seen.st_mode)) {
		held = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (held < 0 || fstat(held, &opened) < 0 || !file_same(&seen, &opened))
			r = error_set(err, ERROR_SECRET_STAGE_FAILED, "it was replaced meanwhile");
		else
			r = overwrite(held, seen.st_size, err);
	}
	if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
		r = error_set_errno(err, ERROR_SECRET_STAGE_FAILED, errno, "removing");
	return r < 0 ? error_prefix(err, "wiping the staged file %s", quoted_string(name)) : 0;
}

int stage_wipe_entries(int dir, struct error *err)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	int r = 0;

	if (!entries) {
		error_set_errno(err, ERROR_SECRET_STAGE_FAILED, errno, "listing a stage");
		if (copy >= 0)
			close(copy);
		return -1;
	}
	for (struct dirent *e; (e = readdir(entries));) {
		auto_error struct error one = ERROR_INIT;
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		fault_hit("wipe:file");
		if (stage_wipe_file(dir, e->d_name, &one) == 0)
			continue;
		if (r == 0)
			error_move(err, &one);
		r = -1;
	}
	closedir(entries);
	return r;
}

static bool ours(const struct stage_record *record, const struct stat *st)
{
	return !record->made || (st->st_dev == record->device && st->st_ino == record->inode);
}

/* 0 it is gone, or another one that is none of ours has its name. */
static int wipe_directory(const struct stage_record *record, struct error *err)
{
	const char *name = NULL;
	struct stat st;

	auto_fd int root = stage_record_open_root(record->path, &name);
	if (root < 0)
		return error_set(err, ERROR_SECRET_STAGE_FAILED, "%s is no path of a stage",
			quoted_string(record->path));
	auto_fd int dir = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 && errno == ENOENT)
		return 0;
	if (dir < 0 || fstat(dir, &st) < 0)
		return error_set_errno(err, ERROR_SECRET_STAGE_FAILED, errno,
			"opening the stage %s", record->path);
	if (!ours(record, &st)) {
		log_warning("%s is not the directory that was made there: left", record->path);
		return 0;
	}
	if (stage_wipe_entries(dir, err) < 0)
		return -1;
	fault_hit("wipe:directory");
	if (unlinkat(root, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return error_set_errno(err, ERROR_SECRET_STAGE_FAILED, errno,
			"removing the stage %s", record->path);
	return 0;
}

int stage_wipe_run(const struct rundir *run, struct error *err)
{
	AUTO(stage_record) record = STAGE_RECORD_INIT;

	if (stage_record_lost(run)) {
		stage_record_remove(run);
		return 0;
	}
	int r = stage_record_read(run, &record, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (wipe_directory(&record, err) < 0)
		return -1;
	fault_hit("wipe:record");
	stage_record_remove(run);
	return 0;
}

/* §15.3: nobody supervises it, and nobody will go on with it. */
static bool abandoned(const struct rundir *run)
{
	auto_error struct error err = ERROR_INIT;

	if (rundir_supervised(run, &err) != 0)
		return false;
	auto_json *record = rundir_read(run, RECORD_FILE, &err);
	if (!record)
		return false;
	struct text boot = json_get_text(json_object_get(record, "supervision"), "boot_id");
	return record_final(record) || (boot.p && !text_is(boot, clock_boot_id()));
}

void stage_sweep(const struct home *h)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) handles = STRV_INIT(RUNDIR_RUNS_MAX);

	if (rundir_handles(h, &handles, &err) < 0)
		return;
	strv_foreach (handle, &handles) {
		auto_error struct error one = ERROR_INIT;
		AUTO(rundir) run = RUNDIR_INIT;
		if (!stage_record_exists(h, *handle) || rundir_open(h, *handle, &run, &one) < 0)
			continue;
		if (abandoned(&run) && stage_wipe_run(&run, &one) < 0)
			log_warning("run %s: %s", *handle, one.message);
	}
}

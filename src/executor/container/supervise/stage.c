#include "executor/container/supervise/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "executor/rundir/stage-record.h"
#include "executor/rundir/stage-wipe.h"
#include "sys/fault.h"
#include "sys/file.h"

enum { CONTENT_MAX = 262144 };
/* No secret file is called so: a name holds no backslash (§5.13). */
#define NEW_FILE "\\new"

void stage_done(struct stage *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static int failed(struct error *err, const char *what, const char *name)
{
	return error_set_errno(
		err, ERROR_SECRET_STAGE_FAILED, errno, "%s %s", what, quoted_string(name));
}

static int write_file(
	const struct stage *s, const char *name, const struct stage_file *file, struct error *err)
{
	auto_fd int fd =
		openat(s->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return failed(err, "making the secret file", file->name);
	if (fault_hit("stage:file") || file_write_all(fd, file->content.p, file->content.len, err))
		return error_set(err, ERROR_SECRET_STAGE_FAILED, "writing the secret file %s",
			quoted_string(file->name));
	if (fchmod(fd, file->mode) < 0)
		return failed(err, "setting the mode of the secret file", file->name);
	if (s->chown && fchown(fd, s->uid, s->gid) < 0)
		return failed(err, "giving the sandbox the secret file", file->name);
	return 0;
}

/* An empty directory of ours in a tmpfs, opened, and its identity on record. */
static int make_directory(
	struct stage *s, const struct rundir *run, const char *path, struct error *err)
{
	const char *name = NULL;
	struct stat st;

	auto_fd int root = stage_record_open_root(path, &name);
	if (root < 0 || file_on_tmpfs(root) != 1)
		return error_set(err, ERROR_SECRET_STAGE_UNAVAILABLE,
			"%s does not lie in a tmpfs of ours", path);
	if (stage_record_write(run, path, NULL, err) < 0)
		return -1;
	if (fault_hit("stage:recorded") || mkdirat(root, name, 0700) < 0) {
		(void)failed(err, "making the directory", path);
		/* What has that name, if anything, is not ours to wipe. */
		stage_record_remove(run);
		return -1;
	}
	fault_hit("stage:made");
	s->fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->fd < 0 || fstat(s->fd, &st) < 0)
		return failed(err, "opening the directory", path);
	if (st.st_uid != geteuid() || (st.st_mode & 07777) != 0700 || file_on_tmpfs(s->fd) != 1)
		return error_set(err, ERROR_SECRET_STAGE_FAILED,
			"%s is not the directory that was made there", path);
	return stage_record_write(run, path, &st, err);
}

int stage_make(struct stage *s, const struct rundir *run, const char *path,
	const struct stage_file *files, size_t n, struct error *err)
{
	if (make_directory(s, run, path, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (write_file(s, files[i].name, &files[i], err) < 0)
			return -1;
	/* Last: until now nobody else could reach what is in it. */
	if (fault_hit("stage:written") || (s->chown && fchown(s->fd, s->uid, s->gid) < 0))
		return failed(err, "giving the sandbox the directory", path);
	fault_hit("stage:given");
	return 0;
}

int stage_open(struct stage *s, const struct rundir *run, struct error *err)
{
	AUTO(stage_record) record = STAGE_RECORD_INIT;
	const char *name = NULL;
	struct stat st;

	int r = stage_record_read(run, &record, err);
	if (r != 0)
		return r;
	auto_fd int root = stage_record_open_root(record.path, &name);
	auto_fd int fd =
		root < 0 ? -1 : openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return root >= 0 && errno == ENOENT ? 1 : failed(err, "opening", record.path);
	if (record.made && (st.st_dev != record.device || st.st_ino != record.inode))
		return 1;
	s->fd = TAKE_FD(fd);
	return 0;
}

int stage_read(const struct stage *s, const char *name, struct secret *ret, struct error *err)
{
	struct stat st;
	auto_fd int fd = openat(s->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0 || fstat(fd, &st) < 0)
		return failed(err, "reading the secret file", name);
	if (!S_ISREG(st.st_mode) || st.st_size > CONTENT_MAX)
		return error_set(err, ERROR_SECRET_STAGE_FAILED, "%s is no secret file any more",
			quoted_string(name));
	struct secret content;
	secret_make((size_t)st.st_size, &content);
	if (pread(fd, content.p, content.len, 0) != (ssize_t)content.len) {
		secret_done(&content);
		return failed(err, "reading the secret file", name);
	}
	*ret = content;
	return 0;
}

int stage_replace(const struct stage *s, const struct stage_file *file, struct error *err)
{
	auto_error struct error ignored = ERROR_INIT;

	/* Of a refresh that died in its middle. */
	if (stage_wipe_file(s->fd, NEW_FILE, &ignored) < 0)
		error_clear(&ignored);
	if (write_file(s, NEW_FILE, file, err) < 0 ||
		renameat(s->fd, NEW_FILE, s->fd, file->name) < 0) {
		if (error_is(err, ERROR_NONE))
			(void)failed(err, "replacing the secret file", file->name);
		(void)!stage_wipe_file(s->fd, NEW_FILE, &ignored);
		return -1;
	}
	return 0;
}

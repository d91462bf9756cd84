#include "run/project-file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "sys/file.h"
#include "sys/fs-user.h"

#define CLOOP ".cloop"

/* Descriptor, or -1 with errno. */
static int open_folder(int dir, const char *name, bool make)
{
	if (make && mkdirat(dir, name, 0755) < 0 && errno != EEXIST)
		return -1;
	return file_open_at(dir, name, O_RDONLY | O_DIRECTORY, 0, FILE_BENEATH | FILE_NO_SYMLINKS);
}

static int failed(const char *project, const char *what, struct error *err)
{
	return error_set_errno(
		err, ERROR_IO, errno, "opening %s of the project %s", what, quoted_string(project));
}

static int write_in(int project, const struct project_file *f, struct text bytes, struct error *err)
{
	auto_fd int cloop = open_folder(project, CLOOP, f->make);
	if (cloop < 0)
		return !f->make && errno == ENOENT ? 1 : failed(f->project, CLOOP, err);
	if (!f->folder)
		return file_replace_at(cloop, f->name, 0644, bytes, false, err);
	auto_fd int folder = open_folder(cloop, f->folder, true);
	if (folder < 0)
		return failed(f->project, f->folder, err);
	return file_replace_at(folder, f->name, 0644, bytes, false, err);
}

/* Opens the project and goes on as its owner: descriptor. */
static int enter(const char *path, struct fs_user *user, struct error *err)
{
	struct stat st;

	auto_fd int project = file_open_resolved(path, O_RDONLY);
	if (project < 0 || fstat(project, &st) < 0)
		return failed(path, "the directory", err);
	if (fs_user_become(user, st.st_uid, st.st_gid, err) < 0)
		return -1;
	return TAKE_FD(project);
}

int project_file_make_folder(const char *project, struct error *err)
{
	struct fs_user user = FS_USER_INIT;

	auto_fd int fd = enter(project, &user, err);
	if (fd < 0)
		return -1;
	auto_fd int cloop = open_folder(fd, CLOOP, true);
	int r = cloop < 0 ? failed(project, CLOOP, err) : 0;
	fs_user_done(&user);
	return r;
}

bool project_file_exists(const struct project_file *f)
{
	struct stat st;

	auto_fd int project = file_open_resolved(f->project, O_RDONLY);
	auto_fd int cloop = project < 0 ? -1 : open_folder(project, CLOOP, false);
	auto_fd int folder = cloop < 0 || !f->folder ? -1 : open_folder(cloop, f->folder, false);
	int dir = f->folder ? folder : cloop;
	return dir >= 0 && fstatat(dir, f->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode);
}

int project_file_write(const struct project_file *f, struct text bytes, struct error *err)
{
	struct fs_user user = FS_USER_INIT;

	auto_fd int project = enter(f->project, &user, err);
	if (project < 0)
		return -1;
	int r = write_in(project, f, bytes, err);
	fs_user_done(&user);
	return r;
}

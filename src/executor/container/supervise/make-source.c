/*
 * The owner of the project may rename what is in it at any moment, also a directory of another user
 * that lies there into the place of one that was made a moment ago. So it is made as that user; and
 * where he may make none, only what cannot be anything else than what we made is given to him.
 */
#include "executor/container/supervise/make-source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "executor/container/request.h"
#include "sys/file.h"
#include "sys/fs-user.h"

static bool is_empty(int at)
{
	auto_fd int fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!d)
		return false;
	fd = -1;
	do
		e = readdir(d);
	while (e && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0));
	closedir(d);
	return !e;
}

/* 0: it is there, as its owner made it. 1: we made it. */
static int make_one(int at, const char *name, const struct stat *owner, struct error *err)
{
	struct fs_user user;

	if (fs_user_become(&user, owner->st_uid, owner->st_gid, err) < 0)
		return -1;
	int made = mkdirat(at, name, 0755), reason = errno;
	fs_user_done(&user);
	if (made == 0 || reason == EEXIST)
		return 0;
	return mkdirat(at, name, 0755) == 0;
}

/*
 * Gives what we made (O_PATH) to the owner, if it is as mkdir() leaves one: to have an empty one of
 * ours that is another gives him nothing.
 */
static int hand_over(int at, const struct stat *owner, const char *relative, struct error *err)
{
	struct stat st;

	if (fstat(at, &st) < 0 || st.st_uid != geteuid() || !is_empty(at))
		return error_set(err, ERROR_MOUNT_CHANGED,
			"the mount source %s was replaced while it was made",
			quoted_string(relative));
	if (fchownat(at, "", owner->st_uid, owner->st_gid, AT_EMPTY_PATH) < 0)
		return error_set_errno(err, ERROR_MOUNT_SOURCE_UNREADABLE, errno,
			"giving the mount source %s to the project's owner",
			quoted_string(relative));
	return 0;
}

int make_source(int workspace, const char *relative, int *ret_fd, struct error *err)
{
	bool hooks = strcmp(relative, project_file_path(PROJECT_GIT_HOOKS)) == 0;
	struct text rest = text_of(relative), part;
	struct stat owner;

	auto_fd int at = dup(workspace);
	if (at < 0 || fstat(at, &owner) < 0)
		return error_set_errno(err, ERROR_IO, errno, "looking at the workspace");
	while (text_split(&rest, '/', &part)) {
		auto_free char *name = mem_strndup(part.p, part.len);
		if (hooks && fstat(at, &owner) < 0)
			return error_set_errno(
				err, ERROR_IO, errno, "looking at the owner of .git");
		int made = make_one(at, name, &owner, err);
		if (made < 0)
			return -1;
		int next = file_open_at(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0,
			FILE_BENEATH | FILE_NO_SYMLINKS);
		if (next < 0)
			return error_set_errno(err, ERROR_MOUNT_CHANGED, errno,
				"making the mount source %s", quoted_string(relative));
		close(at);
		at = next;
		if (made > 0 && hand_over(at, &owner, relative, err) < 0)
			return -1;
	}
	*ret_fd = TAKE_FD(at);
	return 0;
}

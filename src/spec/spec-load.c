#include "spec/spec-load.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "sys/file.h"

#define DIRECTORY ".cloop"

enum {
	READ_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW,
	LOOK_FLAGS = O_PATH | O_NOFOLLOW,
	BELOW_PROJECT = FILE_BENEATH | FILE_NO_SYMLINKS | FILE_NO_MAGICLINKS,
};

/* Where the file is looked for. */
struct place {
	int dir;
	const char *path;
	unsigned resolve;
};

/* The system failed: not the author's fault. */
static int failed(struct spec_result *ret, int errnum, const char *what, struct error *err)
{
	spec_result_done(ret);
	return error_set_errno(err, ERROR_SANDBOX_FILE_IO, errnum, "%s", what);
}

static int refuse(struct spec_result *ret, enum problem_code code, const char *message)
{
	spec_result_refuse(ret, code, message);
	return 0;
}

/* Type of what lies there, no link followed; 0 = unknown. */
static mode_t type_of(int dir, const char *path, unsigned resolve)
{
	auto_fd int fd = file_open_at(dir, path, LOOK_FLAGS, 0, resolve);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? st.st_mode & S_IFMT : 0;
}

/* It could not be opened: whose fault is it? */
static int cannot_open(
	const struct place *at, int errnum, struct spec_result *ret, struct error *err)
{
	mode_t type;

	switch (errnum) {
	case ELOOP:
		return refuse(ret, PROBLEM_SYMLINK, "the file or its directory is a symbolic link");
	case ENOTDIR:
		type = type_of(at->dir, DIRECTORY, at->resolve);
		if (type == S_IFLNK)
			return refuse(ret, PROBLEM_SYMLINK, DIRECTORY " is a symbolic link");
		return refuse(ret, PROBLEM_NOT_DIRECTORY, DIRECTORY " is not a directory");
	case ENXIO:
	case ENODEV:
		return refuse(ret, PROBLEM_NOT_REGULAR, "it is not a regular file");
	case EACCES:
	case EPERM:
		type = type_of(at->dir, at->path, at->resolve);
		if (type != 0 && type != S_IFREG)
			return refuse(ret, PROBLEM_NOT_REGULAR, "it is not a regular file");
		return refuse(ret, PROBLEM_UNREADABLE, "there is no permission to read the file");
	default:
		return failed(ret, errnum, "opening " SPEC_PATH, err);
	}
}

static int judge(
	int fd, const struct spec_checks *checks, struct spec_result *ret, struct error *err)
{
	AUTO(str) bytes = STR_INIT(SPEC_MAX_BYTES + 1);
	auto_error struct error cause = ERROR_INIT;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return failed(ret, errno, "looking at " SPEC_PATH, err);
	if (!S_ISREG(st.st_mode))
		return refuse(ret, PROBLEM_NOT_REGULAR, "it is not a regular file");
	int more = file_read_fd(fd, SPEC_MAX_BYTES, &bytes, &cause);
	if (more < 0) {
		spec_result_done(ret);
		return error_set(
			err, ERROR_SANDBOX_FILE_IO, "reading " SPEC_PATH ": %s", cause.message);
	}
	if (more > 0)
		return refuse(ret, PROBLEM_FILE_TOO_LARGE, "the file has more than 65536 bytes");
	spec_result_done(ret);
	spec_parse((struct text){str_text(&bytes), bytes.len}, checks, ret);
	return 0;
}

/* A directory entry of the wrong name, of whatever type; it is not opened. */
static void look_for_misnamed(int project, struct spec_result *ret)
{
	auto_fd int dir = file_open_at(
		project, DIRECTORY, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0, BELOW_PROJECT);
	struct stat st;

	if (dir >= 0 && fstatat(dir, "sandbox.yml", &st, AT_SYMLINK_NOFOLLOW) == 0)
		problems_add(&ret->warnings, PROBLEM_MISNAMED_FILE, POSITION_NONE, "",
			DIRECTORY "/sandbox.yml is not read: the file is called sandbox.yaml");
}

int spec_load(
	int project, const struct spec_checks *checks, struct spec_result *ret, struct error *err)
{
	const struct place at = {project, SPEC_PATH, BELOW_PROJECT};

	spec_result_init(ret);
	auto_fd int fd = file_open_at(at.dir, at.path, READ_FLAGS, 0, at.resolve);
	if (fd >= 0)
		return judge(fd, checks, ret, err);
	if (errno != ENOENT)
		return cannot_open(&at, errno, ret, err);
	look_for_misnamed(project, ret);
	return 0;
}

int spec_load_dir(const char *path, const struct spec_checks *checks, struct spec_result *ret,
	struct error *err)
{
	auto_fd int project = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (project < 0)
		return error_set_errno(err,
			errno == ENOENT || errno == ENOTDIR ? ERROR_NOT_A_PROJECT
							    : ERROR_SANDBOX_FILE_IO,
			errno, "opening the project directory %s", quoted_string(path));
	return spec_load(project, checks, ret, err);
}

int spec_load_file(const char *path, const struct spec_checks *checks, struct spec_result *ret,
	struct error *err)
{
	const struct place at = {AT_FDCWD, path, 0};

	spec_result_init(ret);
	auto_fd int fd = file_open_at(at.dir, at.path, READ_FLAGS, 0, at.resolve);
	if (fd >= 0)
		return judge(fd, checks, ret, err);
	return errno == ENOENT || errno == ENOTDIR ? 1 : cannot_open(&at, errno, ret, err);
}

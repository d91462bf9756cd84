#include "cli/record-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "sys/file.h"

void record_file_done(struct record_file *f)
{
	cleanup_fd(&f->folder);
	cleanup_fd(&f->stream);
	free(f->name);
	*f = RECORD_FILE_INIT;
}

/* Links that lead to descriptors. */
static bool is_link(const char *path)
{
	static const char *const links[] = {"/dev/std", "/dev/fd/", "/proc/"};

	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		if (strncmp(path, links[i], strlen(links[i])) == 0)
			return true;
	return false;
}

/* A terminal, a FIFO: nothing that could be replaced. */
static bool is_stream(int held)
{
	struct stat st;

	return held >= 0 && fstat(held, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode));
}

/*
 * Our own stdout and stderr are used as they are: whoever opened them may be another user. Never
 * waits for a reader: a FIFO in a stranger's tree must not hold the run up.
 */
static int open_stream(const char *path, int *ret)
{
	int own = strcmp(path, "/dev/stdout") == 0 ? 1 : strcmp(path, "/dev/stderr") == 0 ? 2 : -1;

	if (own >= 0) {
		*ret = fcntl(own, F_DUPFD_CLOEXEC, 3);
		return *ret < 0 ? -1 : 0;
	}
	auto_fd int fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) < 0)
		return -1;
	*ret = TAKE_FD(fd);
	return 0;
}

static int open_folder(const char *path, struct record_file *f)
{
	auto_free char *folder = path_parent(path);
	const char *name = path_name(path);
	struct stat st;

	f->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f->folder < 0 || faccessat(f->folder, ".", W_OK, AT_EACCESS) < 0)
		return -1;
	if (!name[0] ||
		(fstatat(f->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))) {
		errno = EISDIR;
		return -1;
	}
	f->name = mem_strdup(name);
	return 0;
}

/* By what is held, not by name: its owner may have put a link in its place since it was judged. */
static int open_path(const char *path, struct record_file *f)
{
	char link[64];

	if (is_link(path))
		return open_stream(path, &f->stream);
	auto_fd int held = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (!is_stream(held))
		return open_folder(path, f);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", held);
	return open_stream(link, &f->stream);
}

int record_file_open(const char *path, struct record_file *ret, struct error *err)
{
	if (open_path(path, ret) < 0)
		return error_set_errno(
			err, ERROR_IO, errno, "writing the record to %s", quoted_string(path));
	return 0;
}

int record_file_write(const struct record_file *f, struct text bytes, struct error *err)
{
	mode_t mask = umask(077);

	umask(mask);
	int r = f->stream >= 0
			? file_write_all(f->stream, bytes.p, bytes.len, err)
			: file_replace_at(f->folder, f->name, 0666 & ~mask, bytes, false, err);
	return r < 0 ? error_prefix(err, "writing the record") : 0;
}

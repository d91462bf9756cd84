#include "vault/key-file.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "vault/seal.h"

#define FOLDER "keys"
#define MARK "cloop-kek-v1 "

enum { HEX_SIZE = 2 * SEAL_KEY_SIZE, FILE_SIZE = sizeof(MARK) - 1 + HEX_SIZE + 1 };

static const char *const names[] = {
	[KEY_FILE_NOW] = "secret.key",
	[KEY_FILE_NEXT] = "secret.key.next",
};

static int open_folder(const char *home)
{
	auto_free char *folder = mem_printf("%s/" FOLDER, home);

	return open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool key_file_exists(const char *home, enum key_file which)
{
	auto_fd int folder = open_folder(home);
	struct stat st;

	return folder >= 0 && fstatat(folder, names[which], &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int refuse(const char *home, enum key_file which, const char *why, struct error *err)
{
	auto_free char *path = mem_printf("%s/" FOLDER "/%s", home, names[which]);

	error_set(err, ERROR_SECRET_KEY_WRONG, "%s %s", quoted_string(path), why);
	return error_set_remedy(err, "it must be a regular file of the user that runs cloop, mode "
				     "0600, as cloop wrote it: chown, chmod, or bring it back");
}

static const char *judge(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "is no regular file";
	if (st->st_uid != geteuid())
		return "does not belong to this user";
	if (st->st_mode & 077)
		return "may be read or written by others";
	return st->st_nlink == 1 ? NULL : "has more than one name";
}

/* At most m->len bytes, in one block; -1 with errno. */
static ssize_t read_all(int fd, struct locked *m)
{
	size_t have = 0;
	ssize_t n;

	while (have < m->len) {
		n = read(fd, m->p + have, m->len - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -1 : (ssize_t)have;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

static bool parse(struct text t, struct locked *ret)
{
	if (t.len != FILE_SIZE || !text_starts(t, MARK) || t.p[FILE_SIZE - 1] != '\n')
		return false;
	locked_make(ret, SEAL_KEY_SIZE);
	return hex_decode((struct text){t.p + strlen(MARK), HEX_SIZE}, ret->p, SEAL_KEY_SIZE) == 0;
}

int key_file_read(const char *home, enum key_file which, struct locked *ret, struct error *err)
{
	AUTO(locked) content = LOCKED_INIT;
	auto_fd int folder = open_folder(home);
	struct stat st;

	if (folder < 0)
		return errno == ENOENT ? 1 : refuse(home, which, "cannot be opened", err);
	auto_fd int fd = openat(
		folder, names[which], O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0 || fstat(fd, &st) < 0)
		return refuse(home, which, errno == ELOOP ? "is a link" : "cannot be opened", err);
	const char *why = judge(&st);
	if (why)
		return refuse(home, which, why, err);
	locked_make(&content, FILE_SIZE + 1);
	ssize_t n = read_all(fd, &content);
	if (n < 0)
		return refuse(home, which, "cannot be read", err);
	locked_cut(&content, (size_t)n);
	return parse(locked_text(&content), ret) ? 0 : refuse(home, which, "holds no key", err);
}

/* Of the system's error by now. */
static int cannot(const char *home, const char *what, struct error *err)
{
	bool full = errno == ENOSPC || errno == EDQUOT;

	error_set_errno(err, full ? ERROR_NO_SPACE : ERROR_IO, errno, "%s in %s/" FOLDER, what,
		quoted_string(home));
	return full ? error_set_remedy(err, "free space on the file system that holds %s",
			      quoted_string(home))
		    : -1;
}

static bool write_content(int fd, struct text content)
{
	if (fault_hit("key:write")) {
		errno = EIO;
		return false;
	}
	errno = ENOSPC; /* what a short write means */
	return write(fd, content.p, content.len) == (ssize_t)content.len && fsync(fd) == 0;
}

/* A new file; one that is half written by a crash is known by not being the primary. */
static int write_new(
	const char *home, int folder, const char *name, struct text content, struct error *err)
{
	if (unlinkat(folder, name, 0) < 0 && errno != ENOENT)
		return cannot(home, "removing a key that was left", err);
	auto_fd int fd =
		openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fchmod(fd, 0600) < 0 || !write_content(fd, content))
		return cannot(home, "writing a new key", err);
	return file_sync_dir(folder, err);
}

int key_file_write_next(const char *home, const struct locked *key, struct error *err)
{
	AUTO(locked) content = LOCKED_INIT;
	auto_fd int folder = file_open_folder(home, FOLDER, true, err);

	if (folder < 0)
		return -1;
	locked_make(&content, FILE_SIZE);
	memcpy(content.p, MARK, strlen(MARK));
	sodium_bin2hex((char *)content.p + strlen(MARK), HEX_SIZE + 1, key->p, key->len);
	content.p[FILE_SIZE - 1] = '\n';
	if (write_new(home, folder, names[KEY_FILE_NEXT], locked_text(&content), err) < 0)
		return -1;
	/* The folder itself may be new. */
	auto_fd int above = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return above < 0 ? error_set_errno(err, ERROR_IO, errno, "opening %s", quoted_string(home))
			 : file_sync_dir(above, err);
}

int key_file_promote(const char *home, bool first, struct error *err)
{
	auto_fd int folder = file_open_folder(home, FOLDER, false, err);

	if (folder < 0)
		return -1;
	if (renameat2(folder, names[KEY_FILE_NEXT], folder, names[KEY_FILE_NOW],
		    first ? RENAME_NOREPLACE : 0) < 0)
		return cannot(home, "putting a new key in place", err);
	return file_sync_dir(folder, err);
}

int key_file_remove(const char *home, enum key_file which, struct error *err)
{
	auto_fd int folder = open_folder(home);

	if (folder < 0 || unlinkat(folder, names[which], 0) < 0)
		return errno == ENOENT
			       ? 0
			       : error_set_errno(err, ERROR_IO, errno, "removing %s", names[which]);
	return file_sync_dir(folder, err);
}

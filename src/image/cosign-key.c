#include "image/cosign-key.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/file.h"

static int refuse(struct error *err, const char *path, const char *why)
{
	error_set(err, ERROR_SANDBOX_IMAGE_DENIED,
		"the key file %s of sandbox.image_policy.cosign_public_keys cannot be used: it %s",
		quoted_string(path), why);
	return error_set_remedy(err,
		"put the public key there as a regular file of root or of the user that runs "
		"cloop, writable by its owner only (chmod 644), in a directory that is so, too, or "
		"remove "
		"the entry");
}

static int refuse_errno(struct error *err, const char *path)
{
	int error = errno;
	AUTO(str) why = STR_INIT(256);

	if (error == ENOENT || error == ENOTDIR)
		return refuse(err, path, "is missing");
	str_addf(&why, "cannot be read: %s", strerror(error));
	return refuse(err, path, str_text(&why));
}

static const char *fault_of(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "is no regular file";
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return "belongs to somebody else than root and the user that runs cloop";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "can be written by its group or by others";
	return st->st_size > COSIGN_KEY_MAX_BYTES ? "is larger than 64 KiB" : NULL;
}

static bool others_can_write(const char *directory)
{
	struct stat st;

	return stat(directory, &st) < 0 ||
	       ((st.st_mode & (S_IWGRP | S_IWOTH)) && !(st.st_mode & S_ISVTX));
}

/* Whether others could put another file where this absolute path leads. */
static bool is_exposed(const char *path)
{
	auto_free char *directory = mem_strdup(path);

	strrchr(directory, '/')[1] = '\0';
	return others_can_write(directory);
}

/* The place of a link, and of what it leads to. */
static int judge_place(const char *path, struct error *err)
{
	auto_free char *real = file_resolve(path);

	if (!real)
		return refuse_errno(err, path);
	if (is_exposed(path) || is_exposed(real))
		return refuse(err, path,
			"is in a directory that can be written by its group or by others");
	return 0;
}

int cosign_key_read(const char *path, struct cosign_key *ret, struct error *err)
{
	AUTO(str) content = STR_INIT(COSIGN_KEY_MAX_BYTES + 1);
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &ret->seen) < 0)
		return refuse_errno(err, path);
	const char *fault = fault_of(&ret->seen);
	if (fault)
		return refuse(err, path, fault);
	if (judge_place(path, err) < 0)
		return -1;
	int r = file_read_fd(fd, COSIGN_KEY_MAX_BYTES, &content, err);
	if (r != 0)
		return refuse(err, path, r > 0 ? "is larger than 64 KiB" : "cannot be read");
	sha256_hex((struct text){str_text(&content), content.len}, ret->hash);
	return 0;
}

static bool same_moment(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* A rename changes st_ctim as well, so a file that was away and came back is not the same. */
int cosign_key_look_again(const char *path, const struct cosign_key *key, struct error *err)
{
	struct stat now;

	if (stat(path, &now) < 0)
		return refuse_errno(err, path);
	bool same = file_same(&now, &key->seen) && now.st_size == key->seen.st_size &&
		    same_moment(now.st_mtim, key->seen.st_mtim) &&
		    same_moment(now.st_ctim, key->seen.st_ctim);
	return same ? 0 : refuse(err, path, "was changed while a signature was verified");
}

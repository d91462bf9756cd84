#include "image/cosign-key.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/file.h"

static int refuse(struct error *err, const char *path, const char *why)
{
	error_set(err, ERROR_SANDBOX_IMAGE_DENIED,
		"the key file %s of sandbox.image_policy.cosign_public_keys cannot be used: it %s",
		quoted_string(path), why);
	return error_set_remedy(err,
		"put the public key there as a regular file of root or of the user that runs "
		"cloop, writable by its owner only (chmod 644), or remove the entry");
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

int cosign_key_hash(const char *path, char ret[SHA256_HEX_SIZE], struct error *err)
{
	AUTO(str) content = STR_INIT(COSIGN_KEY_MAX_BYTES + 1);
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return refuse_errno(err, path);
	const char *fault = fault_of(&st);
	if (fault)
		return refuse(err, path, fault);
	int r = file_read_fd(fd, COSIGN_KEY_MAX_BYTES, &content, err);
	if (r != 0)
		return refuse(err, path, r > 0 ? "is larger than 64 KiB" : "cannot be read");
	sha256_hex((struct text){str_text(&content), content.len}, ret);
	return 0;
}

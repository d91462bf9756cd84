#include "executor/container/driver/guest-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/mem.h"
#include "executor/container/driver/guest-hash.h"
#include "sys/file.h"
#include "sys/program.h"

enum { NAME_DIGITS = 16 };

static char *folder(const char *home)
{
	return mem_printf("%s/guest/%.*s", home, NAME_DIGITS, GUEST_SHA256);
}

char *guest_file_path(const char *home)
{
	auto_free char *dir = folder(home);

	return mem_printf("%s/cloop-guest", dir);
}

static bool as_it_should_be(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       (st.st_mode & 07777) == 0755 && st.st_size == GUEST_SIZE;
}

static int make(const char *dir, struct error *err)
{
	AUTO(str) bytes = STR_INIT(GUEST_SIZE + 1);
	char hash[SHA256_HEX_SIZE];
	auto_free char *program = program_path("cloop-guest");

	if (file_read(program, GUEST_SIZE, &bytes, err) < 0)
		return error_prefix(err, "the sandbox's init");
	struct text content = {str_text(&bytes), bytes.len};
	sha256_hex(content, hash);
	if (strcmp(hash, GUEST_SHA256) != 0)
		return error_set(err, ERROR_GUEST_UNUSABLE,
			"%s belongs to another version of cloop", program);
	if (file_make_dirs(dir, 0700, err) < 0)
		return -1;
	auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, ERROR_GUEST_UNUSABLE, errno, "opening %s", dir);
	return file_replace_at(fd, "cloop-guest", 0755, content, true, err);
}

int guest_file_install(const char *home, struct error *err)
{
	auto_free char *dir = folder(home);
	auto_free char *path = guest_file_path(home);

	if (!as_it_should_be(path) && make(dir, err) < 0) {
		err->code = ERROR_GUEST_UNUSABLE;
		return -1;
	}
	auto_fd int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || file_on_noexec(fd) == 1)
		return error_set(
			err, ERROR_GUEST_UNUSABLE, "%s lies on a filesystem without exec", path);
	return 0;
}

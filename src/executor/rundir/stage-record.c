#include "executor/rundir/stage-record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "sys/env.h"
#include "sys/fault.h"
#include "sys/file.h"

#define RECORD_NAME "stage.json"
#define PREFIX "cloop-lease-"
enum { DIGITS = 24, RANDOM_BYTES = DIGITS / 2 };

void stage_record_done(struct stage_record *r)
{
	free(r->path);
	*r = STAGE_RECORD_INIT;
}

/* In the order in which they are tried; the last one finds stages of another session. */
static void add_roots(struct strv *roots)
{
	const char *runtime = env_get("XDG_RUNTIME_DIR");

	strv_add(roots, "/dev/shm");
	if (runtime && runtime[0] == '/')
		strv_add(roots, runtime);
	strv_addf(roots, "/run/user/%u", (unsigned)geteuid());
}

static bool usable(const char *root)
{
	auto_fd int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (strcmp(root, "/dev/shm") == 0 && fault_hit("stage:no-shm"))
		return false;
	return fd >= 0 && file_on_tmpfs(fd) == 1 &&
	       faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) == 0;
}

char *stage_record_choose(struct error *err)
{
	AUTO(strv) roots = STRV_INIT(4);
	unsigned char random[RANDOM_BYTES];
	char digits[DIGITS + 1];

	if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
		error_set_errno(err, ERROR_IO, errno, "reading random bytes");
		return NULL;
	}
	hex_encode(random, sizeof(random), digits);
	add_roots(&roots);
	strv_foreach (root, &roots)
		if (usable(*root))
			return mem_printf("%s/" PREFIX "%s", *root, digits);
	error_set(err, ERROR_SECRET_STAGE_UNAVAILABLE,
		"neither /dev/shm nor XDG_RUNTIME_DIR is a tmpfs that may be written to");
	return NULL;
}

int stage_record_open_root(const char *path, const char **ret_name)
{
	AUTO(strv) roots = STRV_INIT(4);
	const char *slash = strrchr(path, '/');

	if (!slash || !text_starts(text_of(slash + 1), PREFIX) ||
		!text_is_hex(text_of(slash + 1 + strlen(PREFIX)), DIGITS))
		return -1;
	auto_free char *parent = mem_strndup(path, (size_t)(slash - path));
	add_roots(&roots);
	if (!strv_has(&roots, parent))
		return -1;
	*ret_name = slash + 1;
	return open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int stage_record_write(
	const struct rundir *run, const char *path, const struct stat *made, struct error *err)
{
	auto_json *j = json_pack("{s:o}", "path", json_exact(path));

	if (made) {
		json_object_set_new(j, "device", json_integer((json_int_t)made->st_dev));
		json_object_set_new(j, "inode", json_integer((json_int_t)made->st_ino));
	}
	if (rundir_write(run, RECORD_NAME, j, !made, err) < 0)
		return -1;
	return made ? 0 : file_sync_dir(run->fd, err);
}

int stage_record_read(const struct rundir *run, struct stage_record *ret, struct error *err)
{
	if (faccessat(run->fd, RECORD_NAME, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		return 1;
	auto_json *j = rundir_read(run, RECORD_NAME, err);
	if (!j)
		return -1;
	ret->path = json_exact_bytes(json_object_get(j, "path"));
	if (!ret->path)
		return error_set(err, ERROR_IO, "%s/%s names no path", run->path, RECORD_NAME);
	ret->made = json_is_integer(json_object_get(j, "inode"));
	ret->device = (dev_t)json_get_int(j, "device", 0);
	ret->inode = (ino_t)json_get_int(j, "inode", 0);
	return 0;
}

bool stage_record_lost(const struct rundir *run)
{
	return rundir_is_empty(run, RECORD_NAME);
}

bool stage_record_exists(const struct home *h, const char *handle)
{
	auto_free char *name = mem_printf("%s/%s", handle, RECORD_NAME);

	return faccessat(h->runs_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void stage_record_remove(const struct rundir *run)
{
	unlinkat(run->fd, RECORD_NAME, 0);
}

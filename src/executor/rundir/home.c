#include "executor/rundir/home.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "sys/env.h"
#include "sys/file.h"

enum { PASSWD_MAX = 16384 };

void home_done(struct home *h)
{
	int *fds[] = {&h->fd, &h->runs_fd, &h->sockets_fd};

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (*fds[i] >= 0)
			close(*fds[i]);
	free(h->path);
	free(h->sockets);
	*h = HOME_INIT;
}

char *home_of_user(void)
{
	const char *home = env_get("HOME");
	struct passwd entry, *found = NULL;
	char texts[PASSWD_MAX];

	if (home && home[0] == '/')
		return mem_strdup(home);
	if (getpwuid_r(geteuid(), &entry, texts, sizeof(texts), &found) != 0 || !found)
		return mem_strdup("");
	return mem_strdup(entry.pw_dir ? entry.pw_dir : "");
}

char *home_of_user_resolved(void)
{
	auto_free char *home = home_of_user();
	char *resolved = file_resolve(home);

	return resolved ? resolved : TAKE_PTR(home);
}

/* A directory that only we can write: made if missing, opened, judged. */
static int open_private(const char *path, int *ret_fd, struct error *err)
{
	struct stat st;

	if (file_make_dirs(path, 0700, err) < 0)
		return error_prefix(err, "home");
	auto_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set_errno(
			err, ERROR_HOME_UNUSABLE, errno, "opening %s", quoted_string(path));
	if (st.st_uid != geteuid() || (st.st_mode & 022))
		return error_set(err, ERROR_HOME_UNUSABLE,
			"%s does not belong to this user, or may be written by others",
			quoted_string(path));
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static char *sockets_folder(const char *home)
{
	struct stat st;

	if (geteuid() == 0)
		return mem_strdup("/run/cloop");
	const char *runtime = env_get("XDG_RUNTIME_DIR");
	if (runtime && runtime[0] == '/' && stat(runtime, &st) == 0 && st.st_uid == geteuid())
		return mem_printf("%s/cloop", runtime);
	return mem_printf("%s/sockets", home);
}

/*
 * Makes <home>/id; of two makers the first wins, and neither sees half of it. On the disk before it
 * has its name, and that before anybody goes by it: containers are known by it alone, and a home is
 * of no use when a power cut took it.
 */
static int make_id(struct home *h, struct error *err)
{
	unsigned char random[8];
	char id[HOME_ID_SIZE], temp[HOME_ID_SIZE + 8];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return error_set_errno(err, ERROR_IO, errno, "reading random bytes");
	hex_encode(random, sizeof(random), id);
	snprintf(temp, sizeof(temp), "id.%s", id);
	auto_fd int fd = openat(h->fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set_errno(err, ERROR_HOME_UNUSABLE, errno, "making %s/id", h->path);
	int r = file_write_all(fd, id, sizeof(id) - 1, err);
	if (r == 0 && fsync(fd) < 0)
		r = error_set_errno(err, ERROR_HOME_UNUSABLE, errno, "syncing %s/id", h->path);
	if (r == 0)
		(void)!linkat(h->fd, temp, h->fd, "id", 0);
	unlinkat(h->fd, temp, 0);
	return r < 0 ? -1 : file_sync_dir(h->fd, err);
}

static int read_id(struct home *h, struct error *err)
{
	AUTO(str) text = STR_INIT(64);

	if (faccessat(h->fd, "id", F_OK, 0) < 0 && make_id(h, err) < 0)
		return -1;
	if (file_read_at(h->fd, "id", 64, &text) < 0)
		return error_set_errno(err, ERROR_HOME_UNUSABLE, errno, "reading %s/id", h->path);
	struct text trimmed = text_trim((struct text){str_text(&text), text.len});
	if (!text_is_hex(trimmed, HOME_ID_SIZE - 1))
		return error_set(
			err, ERROR_HOME_UNUSABLE, "%s/id is not 16 hexadecimal digits", h->path);
	memcpy(h->id, trimmed.p, HOME_ID_SIZE - 1);
	return 0;
}

static int open_all(const char *path, struct home *h, struct error *err)
{
	if (open_private(path, &h->fd, err) < 0)
		return -1;
	h->path = file_resolve(path);
	if (!h->path)
		return error_set_errno(
			err, ERROR_HOME_UNUSABLE, errno, "resolving %s", quoted_string(path));
	auto_free char *runs = mem_printf("%s/runs", h->path);
	h->sockets = sockets_folder(h->path);
	if (open_private(runs, &h->runs_fd, err) < 0 ||
		open_private(h->sockets, &h->sockets_fd, err) < 0)
		return -1;
	return read_id(h, err);
}

int home_open(const char *path, struct home *ret, struct error *err)
{
	AUTO(home) h = HOME_INIT;

	assert(path);
	if (open_all(path, &h, err) < 0) {
		if (error_is(err, ERROR_IO))
			err->code = ERROR_HOME_UNUSABLE;
		return -1;
	}
	*ret = h;
	h = HOME_INIT;
	return 0;
}

int home_reopen_sockets(struct home *h, struct error *err)
{
	auto_free char *folder = sockets_folder(h->path);
	int fd = -1;

	if (open_private(folder, &fd, err) < 0)
		return -1;
	close(h->sockets_fd);
	free(h->sockets);
	h->sockets_fd = fd;
	h->sockets = TAKE_PTR(folder);
	return 0;
}

int home_open_shared(const char *path, int *ret_fd, struct error *err)
{
	auto_free char *folder = sockets_folder(path);

	return open_private(folder, ret_fd, err);
}

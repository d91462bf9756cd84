#include "executor/rundir/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "executor/rundir/record.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/lockfile.h"
#include "sys/log.h"

enum {
	HANDLE_DIGITS = 12,
	STILLBORN_AFTER_S = 10,
	NS = 1000000000,
};

#define RESERVE_FILE "reserve"
enum { RESERVE_BYTES = 64 << 10 };

void rundir_done(struct rundir *r)
{
	if (r->fd >= 0)
		close(r->fd);
	free(r->path);
	*r = RUNDIR_INIT;
}

static bool handle_valid(const char *handle)
{
	struct text t = text_of(handle);

	return text_starts(t, "c-") && text_is_hex(text_after(t, 2), HANDLE_DIGITS);
}

static int open_directory(const struct home *h, const char *handle)
{
	if (fault_hit("rundir:open")) {
		errno = EMFILE;
		return -1;
	}
	return openat(h->runs_fd, handle, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int rundir_open(const struct home *h, const char *handle, struct rundir *ret, struct error *err)
{
	if (!handle_valid(handle))
		return error_set(err, ERROR_HANDLE_INVALID, "%s is no handle of a run",
			quoted_string(handle));
	int fd = open_directory(h, handle);
	if (fd < 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
		return error_set_errno(err, ERROR_IO, errno, "opening run %s", handle);
	if (fd < 0)
		return error_set(err, ERROR_HANDLE_NOT_FOUND, "this home has no run %s", handle);
	*ret = (struct rundir){.fd = fd, .path = mem_printf("%s/runs/%s", h->path, handle)};
	memcpy(ret->handle, handle, HANDLE_SIZE);
	return 0;
}

int rundir_look(const struct home *h, const char *handle, struct rundir *ret, struct error *err)
{
	int r = rundir_open(h, handle, ret, err);

	if (r == 0 || error_is(err, ERROR_IO))
		return r;
	error_clear(err);
	return 1;
}

int rundir_create(const struct home *h, struct rundir *ret, struct error *err)
{
	unsigned char random[HANDLE_DIGITS / 2];
	char handle[HANDLE_SIZE] = "c-";

	do {
		if (getrandom(random, sizeof(random), 0) != sizeof(random))
			return error_set_errno(err, ERROR_IO, errno, "reading random bytes");
		hex_encode(random, sizeof(random), handle + 2);
		if (mkdirat(h->runs_fd, handle, 0700) == 0)
			return rundir_open(h, handle, ret, err);
	} while (errno == EEXIST);
	return error_set_errno(
		err, ERROR_HOME_UNUSABLE, errno, "making the run directory below %s/runs", h->path);
}

struct aged {
	char handle[HANDLE_SIZE];
	struct timespec made;
};

static int newest_first(const void *a, const void *b)
{
	const struct aged *x = a, *y = b;

	if (x->made.tv_sec != y->made.tv_sec)
		return x->made.tv_sec < y->made.tv_sec ? 1 : -1;
	if (x->made.tv_nsec != y->made.tv_nsec)
		return x->made.tv_nsec < y->made.tv_nsec ? 1 : -1;
	return strcmp(x->handle, y->handle);
}

struct timespec rundir_made_at(const struct home *h, const char *handle)
{
	char path[512];
	struct stat st = {0};

	snprintf(path, sizeof(path), "%s/request.json", handle);
	if (fstatat(h->runs_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		(void)!fstatat(h->runs_fd, handle, &st, AT_SYMLINK_NOFOLLOW);
	return st.st_mtim;
}

int rundir_handles(const struct home *h, struct strv *ret, struct error *err)
{
	int fd = openat(h->runs_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir)
		return error_set_errno(err, ERROR_IO, errno, "listing %s/runs", h->path);
	for (struct dirent *e; (e = readdir(dir));)
		if (handle_valid(e->d_name) && strv_add(ret, e->d_name) < 0)
			break;
	closedir(dir);
	return 0;
}

int rundir_list(const struct home *h, struct strv *ret, struct error *err)
{
	AUTO(strv) names = STRV_INIT(RUNDIR_RUNS_MAX);

	if (rundir_handles(h, &names, err) < 0)
		return -1;
	auto_free struct aged *runs = mem_alloc(names.n * sizeof(*runs));
	for (size_t i = 0; i < names.n; i++) {
		memcpy(runs[i].handle, names.v[i], HANDLE_SIZE);
		runs[i].made = rundir_made_at(h, names.v[i]);
	}
	if (names.n > 1)
		qsort(runs, names.n, sizeof(*runs), newest_first);
	for (size_t i = 0; i < names.n; i++)
		if (strv_add(ret, runs[i].handle) < 0)
			break;
	return 0;
}

int rundir_find(const struct home *h, const char *prefix, struct rundir *ret, struct error *err)
{
	AUTO(strv) all = STRV_INIT(RUNDIR_RUNS_MAX);
	const char *digits = strncmp(prefix, "c-", 2) == 0 ? prefix + 2 : prefix;
	const char *found = NULL;

	if (handle_valid(prefix))
		return rundir_open(h, prefix, ret, err);
	if (digits[0] == '\0')
		return error_set(err, ERROR_HANDLE_INVALID, "an empty handle names no run");
	if (rundir_list(h, &all, err) < 0)
		return -1;
	strv_foreach (handle, &all) {
		if (strncmp(*handle + 2, digits, strlen(digits)) != 0)
			continue;
		if (found)
			return error_set(err, ERROR_HANDLE_AMBIGUOUS,
				"%s begins more than one handle", quoted_string(prefix));
		found = *handle;
	}
	if (!found)
		return error_set(err, ERROR_HANDLE_NOT_FOUND, "this home has no run %s",
			quoted_string(prefix));
	return rundir_open(h, found, ret, err);
}

int rundir_remove(const struct home *h, const char *handle, struct error *err)
{
	return file_remove_tree_at(h->runs_fd, handle, err);
}

int rundir_supervised(const struct rundir *r, struct error *err)
{
	return lockfile_held(r->fd, "lock", err);
}

static const char *const of_live_runs[] = {
	"cid", "stdout.fifo", "stderr.fifo", "ctl", "interfaces.json", "network.json"};

bool rundir_has_leftovers(const struct rundir *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(of_live_runs); i++)
		if (faccessat(r->fd, of_live_runs[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	return false;
}

void rundir_drop_leftovers(const struct rundir *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(of_live_runs); i++) {
		auto_error struct error err = ERROR_INIT;
		if (file_remove_tree_at(r->fd, of_live_runs[i], &err) < 0)
			log_warning("run %s: %s", r->handle, err.message);
	}
}

bool rundir_is_empty(const struct rundir *r, const char *name)
{
	struct stat st;

	return fstatat(r->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       st.st_size == 0;
}

static bool has_no(const struct rundir *r, const char *name)
{
	return faccessat(r->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

bool rundir_lacks(const struct rundir *r, const char *name)
{
	return has_no(r, name) || rundir_is_empty(r, name);
}

bool rundir_discard(const struct home *h, const struct rundir *r)
{
	auto_error struct error err = ERROR_INIT;

	return has_no(r, RECORD_FILE) && rundir_remove(h, r->handle, &err) == 0;
}

bool rundir_is_blank(const struct rundir *r)
{
	return rundir_lacks(r, RECORD_FILE) && rundir_lacks(r, REQUEST_FILE);
}

bool rundir_stillborn(const struct rundir *r)
{
	auto_error struct error err = ERROR_INIT;
	struct stat st;

	return rundir_is_blank(r) && fstat(r->fd, &st) == 0 && st.st_nlink > 0 &&
	       clock_realtime_ns() / NS > st.st_mtim.tv_sec + STILLBORN_AFTER_S &&
	       rundir_supervised(r, &err) == 0;
}

bool rundir_imported(const struct rundir *r)
{
	AUTO(str) boot = STR_INIT(CLOCK_TEXT_SIZE);

	return file_read_at(r->fd, RUNDIR_IMPORTED_FILE, CLOCK_TEXT_SIZE, &boot) == 0 &&
	       strcmp(str_text(&boot), clock_boot_id()) == 0;
}

int rundir_mark_imported(const struct rundir *r, struct error *err)
{
	return file_replace_at(
		r->fd, RUNDIR_IMPORTED_FILE, 0600, text_of(clock_boot_id()), false, err);
}

/* Of bytes that may be anything. */
static json_t *read_object(const struct str *bytes, const char *name, struct error *err)
{
	json_t *value = json_read(
		(struct text){str_text(bytes), bytes->len}, RUNDIR_FILE_MAX, name, ERROR_IO, err);

	if (!value || json_is_object(value))
		return value;
	json_decref(value);
	error_set(err, ERROR_IO, "%s is no JSON object", name);
	return NULL;
}

json_t *rundir_read(const struct rundir *r, const char *name, struct error *err)
{
	AUTO(str) bytes = STR_INIT(RUNDIR_FILE_MAX + 1);

	if (file_read_at(r->fd, name, RUNDIR_FILE_MAX, &bytes) < 0) {
		error_set_errno(err, ERROR_IO, errno, "reading %s of run %s", name, r->handle);
		return NULL;
	}
	json_t *value = read_object(&bytes, name, err);
	if (!value) {
		auto_free char *path = file_fd_path(r->fd);
		error_prefix(err, "run %s", r->handle);
		error_set_remedy(err,
			"%s/%s is damaged; beside it is what is left of the run, the output in "
			"log/",
			path ? path : "", name);
	}
	return value;
}

bool rundir_damaged(const struct rundir *r, const char *name)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO(str) bytes = STR_INIT(RUNDIR_FILE_MAX + 1);

	if (file_read_at(r->fd, name, RUNDIR_FILE_MAX, &bytes) < 0)
		return errno == ENOENT;
	auto_json *value = read_object(&bytes, name, &ignored);
	return !value;
}

int rundir_write(
	const struct rundir *r, const char *name, json_t *value, bool durable, struct error *err)
{
	auto_free char *text = json_write(value);

	if (file_replace_at(r->fd, name, 0600, text_of(text), durable, err) < 0)
		return error_prefix(err, "run %s: %s", r->handle, name);
	return 0;
}

int rundir_reserve(const struct rundir *r, struct error *err)
{
	auto_free char *zeros = NULL;
	auto_fd int fd =
		openat(r->fd, RESERVE_FILE, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0 && fallocate(fd, 0, 0, RESERVE_BYTES) == 0)
		return 0;
	/* Not every file system can do that at once. */
	if (fd >= 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) {
		zeros = mem_alloc(RESERVE_BYTES);
		if (write(fd, zeros, RESERVE_BYTES) == RESERVE_BYTES)
			return 0;
		errno = ENOSPC;
	}
	error_set_errno(err, errno == ENOSPC || errno == EDQUOT ? ERROR_NO_SPACE : ERROR_IO, errno,
		"keeping room for the final record of run %s", r->handle);
	return error_set_remedy(err, "free space where cloop's home is");
}

void rundir_release(const struct rundir *r)
{
	unlinkat(r->fd, RESERVE_FILE, 0);
}

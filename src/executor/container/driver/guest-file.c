#include "executor/container/driver/guest-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/mem.h"
#include "executor/container/driver/guest-hash.h"
#include "executor/rundir/record.h"
#include "executor/rundir/rundir.h"
#include "sys/file-list.h"
#include "sys/file.h"
#include "sys/log.h"
#include "sys/program.h"

enum { NAME_DIGITS = 16, VERSIONS_MAX = 1000 };

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

/* ---- Other versions ---- */

static bool is_another(const char *name)
{
	return text_is_hex(text_of(name), NAME_DIGITS) &&
	       strncmp(name, GUEST_SHA256, NAME_DIGITS) != 0;
}

/* Its container is gone, or was never made. */
static bool over(const struct rundir *run)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *record = rundir_read(run, RECORD_FILE, &err);

	return record && record_final(record) && !rundir_has_leftovers(run) &&
	       !record_warned(record, "container_left") && rundir_supervised(run, &err) == 0;
}

/* Adds the path of the one that the run has; false: nobody knows which that is. */
static bool add_used(const struct home *h, const char *handle, struct strv *used)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	int gone = rundir_look(h, handle, &run, &err);
	if (gone != 0)
		return gone > 0;
	if (over(&run))
		return true;
	auto_json *request = rundir_read(&run, REQUEST_FILE, &err);
	const char *path = json_get_string(request, "guest");
	return request && (!path || strv_add(used, path) == 0);
}

static bool is_used(const struct home *h, const char *version, const struct strv *used)
{
	auto_free char *path = mem_printf("%s/guest/%s/cloop-guest", h->path, version);

	return strv_has(used, path);
}

void guest_file_reap(const struct home *h)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) versions = STRV_INIT(VERSIONS_MAX);
	AUTO(strv) handles = STRV_INIT(RUNDIR_RUNS_MAX);
	AUTO(strv) used = STRV_INIT(RUNDIR_RUNS_MAX);
	bool any = false;

	auto_fd int dir = openat(h->fd, "guest", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return;
	file_list_at(dir, "", &versions);
	strv_foreach (version, &versions)
		any |= is_another(*version);
	if (!any || rundir_handles(h, &handles, &err) < 0)
		return;
	strv_foreach (handle, &handles)
		if (!add_used(h, *handle, &used))
			return;
	strv_foreach (version, &versions) {
		auto_error struct error one = ERROR_INIT;
		if (is_another(*version) && !is_used(h, *version, &used) &&
			file_remove_tree_at(dir, *version, &one) < 0)
			log_warning("%s", one.message);
	}
}

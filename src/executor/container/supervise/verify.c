#include "executor/container/supervise/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/path.h"
#include "executor/container/readback.h"
#include "executor/container/validate.h"
#include "sys/file.h"
#include "sys/mount-line.h"

enum { PROC_FILE_MAX = 1 << 20, ENVIRON_MAX = 80 << 20 };

static int read_proc(pid_t pid, const char *name, size_t max, struct str *ret, struct error *err)
{
	auto_free char *path = mem_printf("/proc/%d/%s", (int)pid, name);

	if (file_read_at(AT_FDCWD, path, max, ret) < 0)
		return error_set_errno(
			err, ERROR_INIT_FAILED, errno, "reading %s of the sandbox's init", name);
	return 0;
}

static bool same_file(const char *path, int fd)
{
	struct stat a, b;

	return stat(path, &a) == 0 && fstat(fd, &b) == 0 && file_same(&a, &b);
}

static bool ends_in_pid_1(struct text nspid)
{
	struct text part, last = {NULL, 0};

	while (text_split(&nspid, '\t', &part))
		last = part;
	return text_is(last, "1");
}

static bool some_root_holds(struct text mountinfo, const char *id)
{
	struct mount_line m;

	while (mount_line_next(&mountinfo, &m))
		if (text_has(m.root, id))
			return true;
	return false;
}

bool verify_adopted(pid_t pid, const char *container_id)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) status = STR_INIT(PROC_FILE_MAX);
	AUTO(str) mounts = STR_INIT(PROC_FILE_MAX);

	if (!container_id[0] || read_proc(pid, "status", PROC_FILE_MAX - 1, &status, &err) < 0 ||
		read_proc(pid, "mountinfo", PROC_FILE_MAX - 1, &mounts, &err) < 0)
		return false;
	return ends_in_pid_1(text_value(text_of(str_text(&status)), "NSpid")) &&
	       some_root_holds((struct text){str_text(&mounts), mounts.len}, container_id);
}

int verify_peer(const struct verify *v, struct error *err)
{
	auto_free char *exe = mem_printf("/proc/%d/exe", (int)v->pid);

	(void)err;
	return same_file(exe, v->guest_fd) && verify_adopted(v->pid, v->container_id) ? 0 : 1;
}

static bool line_by_id(struct text mountinfo, uint64_t id, struct mount_line *ret)
{
	while (mount_line_next(&mountinfo, ret))
		if (ret->id == id)
			return true;
	return false;
}

static int changed(struct error *err, const struct verify_mount *m, const char *what)
{
	return error_set(
		err, ERROR_MOUNT_CHANGED, "the mount at %s %s", quoted_string(m->target), what);
}

/*
 * An image may have links on the way to a target. The workspace may not: one that was swapped in
 * while the engine mounted takes the mount to another place of the sandbox.
 */
static int open_target(int root, const char *target)
{
	static const char workspace[] = "/workspace";
	const unsigned in_image = FILE_IN_ROOT | FILE_NO_MAGICLINKS;
	size_t n = strlen(workspace);

	if (strncmp(target, workspace, n) != 0 || target[n] != '/')
		return file_open_at(root, target, O_PATH, 0, in_image);
	auto_fd int at = file_open_at(root, workspace, O_PATH, 0, in_image);
	return at < 0 ? -1
		      : file_open_at(
				at, target + n + 1, O_PATH, 0, FILE_BENEATH | FILE_NO_SYMLINKS);
}

/* One mount of the engine line against what the init really sees at its target; its mount id. */
static int check_mount(int root, const struct verify_mount *m, struct text mountinfo,
	uint64_t *ret_id, struct error *err)
{
	struct stat source, target;
	struct statx stx;
	struct mount_line line;

	auto_fd int fd = open_target(root, m->target);
	if (fd < 0 || fstat(fd, &target) < 0 || fstat(m->source_fd, &source) < 0)
		return changed(err, m, "cannot be looked at inside the sandbox");
	if (!file_same(&source, &target))
		return changed(err, m, "is not what was opened when it was judged");
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) < 0 ||
		!(stx.stx_mask & STATX_MNT_ID) || !(stx.stx_attributes & STATX_ATTR_MOUNT_ROOT))
		return changed(err, m, "is no mount of its own");
	if (!line_by_id(mountinfo, stx.stx_mnt_id, &line))
		return changed(err, m, "has no line in mountinfo");
	if (m->read_only && !mount_line_has(line.options, "ro"))
		return changed(err, m, "was to be read-only and is writable");
	*ret_id = line.id;
	return 0;
}

static bool kernel_filesystem(struct text type)
{
	static const char *const types[] = {
		"proc", "sysfs", "cgroup", "cgroup2", "tmpfs", "devtmpfs", "devpts", "mqueue"};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (text_is(type, types[i]))
			return true;
	return false;
}

static bool kernel_place(struct text target)
{
	return text_is(target, "/tmp") || path_at_or_below(target, TEXT("/proc")) ||
	       path_at_or_below(target, TEXT("/sys")) || path_at_or_below(target, TEXT("/dev"));
}

/*
 * ids: of the mounts that were checked and of the image's volumes; their lines may name the place
 * where a link of the image led.
 */
static bool expected(
	const struct verify *v, const uint64_t *ids, const struct mount_line *m, struct text target)
{
	if (text_is(target, "/") || text_has(m->root, v->container_id))
		return true;
	if (kernel_place(target) && kernel_filesystem(m->type))
		return true;
	for (size_t i = 0; i < v->n_mounts + v->also_fine->n; i++)
		if (m->id == ids[i])
			return true;
	for (size_t i = 0; i < v->n_mounts; i++)
		if (text_is(target, v->mounts[i].target))
			return true;
	strv_foreach (fine, v->also_fine)
		if (text_is(target, *fine))
			return true;
	return false;
}

/* 0 (no mount has it) for a path that is no mount. An image may write its volumes in any form. */
static uint64_t volume_id(int root, const char *path)
{
	struct statx stx;

	auto_fd int fd = file_open_at(root, path, O_PATH, 0, FILE_IN_ROOT | FILE_NO_MAGICLINKS);
	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) < 0 ||
		!(stx.stx_mask & STATX_MNT_ID) || !(stx.stx_attributes & STATX_ATTR_MOUNT_ROOT))
		return 0;
	return stx.stx_mnt_id;
}

/* An engine mounts with a directory what the host has mounted below it. */
static bool comes_along(const struct verify *v, struct text target)
{
	for (size_t i = 0; i < v->n_mounts; i++)
		if (path_at_or_below(target, text_of(v->mounts[i].target)))
			return true;
	return false;
}

static int check_nothing_else(
	const struct verify *v, const uint64_t *ids, struct text mountinfo, struct error *err)
{
	struct text line;
	struct mount_line m;

	while (text_split(&mountinfo, '\n', &line)) {
		AUTO(str) target = STR_INIT(PROC_FILE_MAX);
		if (line.len == 0)
			continue;
		if (!mount_line_parse(line, &m))
			return error_set(err, ERROR_UNEXPECTED_MOUNT,
				"a mount of the sandbox cannot be read");
		mount_line_unescape(&target, m.target);
		struct text t = {str_text(&target), target.len};
		if (expected(v, ids, &m, t))
			continue;
		error_set(err, ERROR_UNEXPECTED_MOUNT,
			"the sandbox has a mount at %s that cloop did not ask for", quoted(t));
		return comes_along(v, t)
			       ? error_set_remedy(err,
					 "this host has a filesystem mounted there, below the "
					 "project or what else is mounted: unmount it")
			       : -1;
	}
	return 0;
}

int verify_mounts(const struct verify *v, struct error *err)
{
	AUTO(str) mounts = STR_INIT(PROC_FILE_MAX);
	auto_free char *path = mem_printf("/proc/%d/root", (int)v->pid);
	auto_free uint64_t *ids = mem_alloc((v->n_mounts + v->also_fine->n + 1) * sizeof(*ids));

	auto_fd int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return error_set_errno(
			err, ERROR_INIT_FAILED, errno, "opening the root of the sandbox");
	if (read_proc(v->pid, "mountinfo", PROC_FILE_MAX - 1, &mounts, err) < 0)
		return -1;
	struct text info = {str_text(&mounts), mounts.len};
	for (size_t i = 0; i < v->n_mounts; i++)
		if (check_mount(root, &v->mounts[i], info, &ids[i], err) < 0)
			return -1;
	for (size_t i = 0; i < v->also_fine->n; i++)
		ids[v->n_mounts + i] = volume_id(root, v->also_fine->v[i]);
	return check_nothing_else(v, ids, info, err);
}

/* A line behind the heading of /proc/swaps. */
static bool host_has_swap(void)
{
	AUTO(str) swaps = STR_INIT(PROC_FILE_MAX);

	if (file_read_at(AT_FDCWD, "/proc/swaps", PROC_FILE_MAX - 1, &swaps) < 0)
		return true;
	const char *line = strchr(str_text(&swaps), '\n');
	return line && line[1] != '\0';
}

int verify_limits(const struct verify *v, const struct cgroup *g, struct limits *ret_effective,
	struct error *err)
{
	AUTO(readback_levels) levels = {.n = 0};

	if (v->asked.cpu_millis == 0 && v->asked.memory_mb == 0 && v->asked.pids <= 0)
		return 0;
	readback_read(g, &levels);
	struct readback r = {
		.version = g->version,
		.levels = levels.v,
		.n_levels = levels.n,
		.swap_on = host_has_swap(),
	};
	if (readback_check(&r, &v->asked, err) < 0)
		return -1;
	*ret_effective = readback_effective(&r);
	return 0;
}

/* How often `entry` (NAME=VALUE) and its name stand in a NUL-separated environment. */
static bool once_and_exact(struct text given, struct text entry)
{
	const char *eq = memchr(entry.p, '=', entry.len);
	size_t name = eq ? (size_t)(eq - entry.p) + 1 : entry.len;
	struct text part;
	unsigned named = 0;
	bool exact = false;

	while (text_split(&given, '\0', &part)) {
		if (part.len < name || memcmp(part.p, entry.p, name) != 0)
			continue;
		named++;
		exact = text_equal(part, entry);
	}
	return named == 1 && exact;
}

static char *path_of(struct text given)
{
	struct text part;

	while (text_split(&given, '\0', &part))
		if (text_starts(part, "PATH="))
			return mem_strndup(part.p + strlen("PATH="), part.len - strlen("PATH="));
	return NULL;
}

int verify_environment(const struct verify *v, char **ret_path, struct error *err)
{
	AUTO(str) given = STR_INIT(ENVIRON_MAX);

	if (read_proc(v->pid, "environ", ENVIRON_MAX - 1, &given, err) < 0)
		return -1;
	strv_foreach (entry, v->env) {
		struct text e = text_of(*entry);
		if (once_and_exact((struct text){str_text(&given), given.len}, e))
			continue;
		size_t name = strcspn(*entry, "=");
		error_set(err, ERROR_ENV_MISMATCH, "the variable %s did not arrive as it was given",
			quoted((struct text){e.p, name}));
		explicit_bzero(given.data, given.len);
		return -1;
	}
	*ret_path = path_of((struct text){str_text(&given), given.len});
	if (given.data)
		explicit_bzero(given.data, given.len);
	return 0;
}

static bool all_zero(struct text hex)
{
	for (size_t i = 0; i < hex.len; i++)
		if (hex.p[i] != '0')
			return false;
	return hex.len > 0;
}

/* Real, effective, saved and filesystem id are all `id`. */
static bool four_times(struct text list, uint64_t id)
{
	struct text part;
	unsigned n = 0;
	uint64_t value;

	while (text_split(&list, '\t', &part)) {
		if (num_parse(part, UINT32_MAX, &value) != NUM_OK || value != id)
			return false;
		n++;
	}
	return n == 4;
}

int verify_confinement(const struct verify *v, struct error *err)
{
	static const char *const caps[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"};
	AUTO(str) bytes = STR_INIT(PROC_FILE_MAX);

	if (read_proc(v->pid, "status", PROC_FILE_MAX - 1, &bytes, err) < 0)
		return -1;
	struct text status = {str_text(&bytes), bytes.len};
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++)
		if (!all_zero(text_value(status, caps[i])))
			return error_set(err, ERROR_CONFINEMENT_MISMATCH,
				"the sandbox has capabilities (%s)", caps[i]);
	if (!text_is(text_value(status, "NoNewPrivs"), "1"))
		return error_set(
			err, ERROR_CONFINEMENT_MISMATCH, "the sandbox may gain privileges");
	if (!text_is(text_value(status, "Seccomp"), "2"))
		return error_set(
			err, ERROR_CONFINEMENT_MISMATCH, "the sandbox has no system call filter");
	if (!four_times(text_value(status, "Uid"), v->uid) ||
		!four_times(text_value(status, "Gid"), v->gid))
		return error_set(err, ERROR_CONFINEMENT_MISMATCH,
			"the sandbox does not run as user %u:%u", v->uid, v->gid);
	return 0;
}

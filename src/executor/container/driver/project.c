#include "executor/container/driver/project.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "executor/container/validate.h"
#include "sys/file.h"
#include "sys/mount-line.h"

enum { MOUNTINFO_MAX = 4 << 20 };

void project_done(struct project *p)
{
	if (p->fd >= 0)
		close(p->fd);
	free(p->path);
	*p = PROJECT_INIT;
}

static enum path_kind kind_of(int dir, const char *path)
{
	struct stat st;

	if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return PATH_ABSENT;
	if (S_ISDIR(st.st_mode))
		return PATH_DIR;
	if (S_ISREG(st.st_mode))
		return PATH_FILE;
	return S_ISLNK(st.st_mode) ? PATH_SYMLINK : PATH_OTHER;
}

static void look_at_files(struct project *p)
{
	for (size_t i = 0; i < PROJECT_FILE_COUNT; i++)
		p->files[i] = kind_of(p->fd, project_file_path((enum project_file)i));
	p->make_hooks = p->files[PROJECT_GIT] == PATH_DIR &&
			p->files[PROJECT_GIT_CONFIG] != PATH_ABSENT &&
			p->files[PROJECT_GIT_HOOKS] == PATH_ABSENT;
	if (p->make_hooks)
		p->files[PROJECT_GIT_HOOKS] = PATH_DIR;
}

int project_open(
	const char *dir, const struct runtime *runtime, struct project *ret, struct error *err)
{
	AUTO(project) p = PROJECT_INIT;
	struct stat st;

	if (!dir || !dir[0])
		return error_set(err, ERROR_WORK_DIR_MISSING, "no project directory is named");
	p.path = file_resolve(dir);
	if (!p.path)
		return error_set_errno(err, ERROR_NOT_A_PROJECT, errno, "opening the project %s",
			quoted_string(dir));
	/* What is judged is this path: a link on its way now would lead somewhere else. */
	p.fd = file_open_resolved(p.path, O_PATH);
	if (p.fd < 0 || fstat(p.fd, &st) < 0)
		return error_set_errno(err, ERROR_NOT_A_PROJECT, errno, "opening the project %s",
			quoted_string(p.path));
	p.uid = runtime->rootless ? geteuid() : st.st_uid;
	p.gid = runtime->rootless ? getegid() : st.st_gid;
	look_at_files(&p);
	*ret = p;
	p = PROJECT_INIT;
	return 0;
}

int project_check_owner(const struct project *p, const struct runtime *runtime, struct error *err)
{
	if (runtime->rootless || geteuid() == 0 || (p->uid == geteuid() && p->gid == getegid()))
		return 0;
	return error_set(err, ERROR_OWNER_NOT_SELF,
		"%s belongs to %u:%u, and docker is called by %u:%u", quoted_string(p->path),
		p->uid, p->gid, geteuid(), getegid());
}

int project_open_file(const struct project *p, enum project_file f, struct error *err)
{
	const char *name = project_file_path(f);
	int fd = file_open_at(p->fd, name, O_PATH | O_NOFOLLOW, 0, FILE_BENEATH | FILE_NO_SYMLINKS);

	return fd >= 0 ? fd : error_set_errno(err, ERROR_MOUNT_CHANGED, errno, "opening %s", name);
}

void project_source_done(struct project_source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->path);
	free(s->relative);
	*s = PROJECT_SOURCE_INIT;
}

/* What errno of an open below the workspace means. */
static int refuse_source(struct error *err, const char *source, int reason)
{
	if (reason == EXDEV || reason == ELOOP)
		return error_set(err, ERROR_MOUNT_ESCAPES,
			"the mount source %s leaves the workspace", quoted_string(source));
	if (reason == EACCES || reason == EPERM)
		return error_set_errno(err, ERROR_MOUNT_SOURCE_UNREADABLE, reason,
			"opening the mount source %s", quoted_string(source));
	return error_set_errno(
		err, ERROR_MOUNT_SOURCE_TYPE, reason, "the mount source %s", quoted_string(source));
}

static bool below(struct text path, struct text root)
{
	return path_at_or_below(path, root) && path.len > root.len;
}

/* `resolved` is where the source really is: rules 8 and 11 of §7.1 once more. */
static int check_place(const struct project *p, const struct request_mount *m, const char *resolved,
	struct error *err)
{
	struct text path = text_of(resolved), root = text_of(p->path);

	if (!path_at_or_below(path, root))
		return error_set(err, ERROR_MOUNT_ESCAPES,
			"the mount source %s leaves the workspace", quoted(m->source));
	if (path.len == root.len)
		return error_set(err, ERROR_MOUNT_SOURCE_PROTECTED,
			"the mount source %s is the workspace itself", quoted(m->source));
	struct text relative = text_after(path, root.len + (root.len > 1 ? 1 : 0));
	bool control = path_at_or_below(relative, TEXT(".git")) ||
		       path_at_or_below(relative, TEXT(".cloop"));
	if (control && !m->read_only)
		return error_set(err, ERROR_MOUNT_SOURCE_PROTECTED,
			"the mount source %s lies in .git or .cloop and is not read-only",
			quoted(m->source));
	return 0;
}

/* Engines leave mounts below a read-only one writable. */
static int check_no_submount(const char *resolved, struct error *err)
{
	AUTO(str) bytes = STR_INIT(MOUNTINFO_MAX);
	struct text rest;
	struct mount_line m;

	if (file_read_at(AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX - 1, &bytes) < 0)
		return error_set_errno(err, ERROR_IO, errno, "reading /proc/self/mountinfo");
	rest = (struct text){str_text(&bytes), bytes.len};
	while (mount_line_next(&rest, &m)) {
		AUTO(str) target = STR_INIT(MOUNTINFO_MAX);
		mount_line_unescape(&target, m.target);
		if (below((struct text){str_text(&target), target.len}, text_of(resolved)))
			return error_set(err, ERROR_MOUNT_SOURCE_TYPE,
				"the read-only mount source %s has a mount of the host below it",
				quoted_string(resolved));
	}
	return 0;
}

/* A target below /workspace must be there already, without links, of the source's type. */
static int check_target(
	const struct project *p, const struct request_mount *m, bool is_dir, struct error *err)
{
	struct stat st;

	if (!below(m->target, TEXT("/workspace")))
		return 0;
	auto_free char *relative = mem_strndup(
		m->target.p + strlen("/workspace/"), m->target.len - strlen("/workspace/"));
	auto_fd int fd = file_open_at(
		p->fd, relative, O_PATH | O_NOFOLLOW, 0, FILE_BENEATH | FILE_NO_SYMLINKS);
	if (fd < 0 || fstat(fd, &st) < 0 || !(is_dir ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode)))
		return error_set(err, ERROR_MOUNT_TARGET_MISSING,
			"the mount target %s is not there as a %s", quoted(m->target),
			is_dir ? "directory" : "file");
	return 0;
}

/*
 * The source does not exist: what is there of its path is followed and resolved, the rest is to be
 * made. A link that leads nowhere is refused.
 */
static int plan_missing(const struct project *p, const struct request_mount *m,
	struct project_source *s, struct error *err)
{
	AUTO(str) there = STR_INIT(8192);
	struct text rest = m->source, part;
	auto_free char *source = mem_strndup(m->source.p, m->source.len);

	auto_fd int at = dup(p->fd);
	while (text_split(&rest, '/', &part)) {
		struct stat st;
		if (there.len)
			str_add_char(&there, '/');
		str_add(&there, part.p, part.len);
		int next = file_open_at(
			p->fd, str_text(&there), O_PATH, 0, FILE_BENEATH | FILE_NO_MAGICLINKS);
		if (next < 0 && errno != ENOENT)
			return refuse_source(err, source, errno);
		if (next < 0) {
			auto_free char *name = mem_strndup(part.p, part.len);
			if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
				return refuse_source(err, source, ENOENT);
			break;
		}
		close(at);
		at = next;
	}
	auto_free char *parent = file_fd_path(at);
	if (!parent || !path_at_or_below(text_of(parent), text_of(p->path)))
		return refuse_source(err, source, EXDEV);
	size_t root = strlen(p->path);
	const char *made = part.p; /* the first missing component and what follows it */
	size_t made_len = m->source.len - (size_t)(made - m->source.p);
	const char *inner = strlen(parent) > root ? parent + root + 1 : "";
	s->relative = mem_printf("%s%s%.*s", inner, inner[0] ? "/" : "", (int)made_len, made);
	s->path = mem_printf("%s/%s", p->path, s->relative);
	return 0;
}

int project_open_source(const struct project *p, const struct request_mount *m,
	struct project_source *ret, struct error *err)
{
	AUTO(project_source) s = PROJECT_SOURCE_INIT;
	auto_free char *source = mem_strndup(m->source.p, m->source.len);
	struct stat st = {.st_mode = S_IFDIR};

	s.fd = file_open_at(p->fd, source, O_PATH, 0, FILE_BENEATH | FILE_NO_MAGICLINKS);
	if (s.fd < 0 && errno != ENOENT)
		return refuse_source(err, source, errno);
	if (s.fd < 0) {
		if (plan_missing(p, m, &s, err) < 0)
			return -1;
	} else {
		s.path = file_fd_path(s.fd);
		if (!s.path || fstat(s.fd, &st) < 0)
			return error_set_errno(err, ERROR_MOUNT_SOURCE_UNREADABLE, errno,
				"looking at the mount source %s", quoted_string(source));
		if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
			return error_set(err, ERROR_MOUNT_SOURCE_TYPE,
				"the mount source %s is neither a directory nor a file",
				quoted_string(source));
		if (faccessat(AT_FDCWD, s.path, R_OK, AT_EACCESS) < 0 && errno == EACCES)
			return refuse_source(err, source, EACCES);
	}
	if (check_place(p, m, s.path, err) < 0 || check_target(p, m, S_ISDIR(st.st_mode), err) < 0)
		return -1;
	if (m->read_only && s.fd >= 0 && check_no_submount(s.path, err) < 0)
		return -1;
	*ret = s;
	s = PROJECT_SOURCE_INIT;
	return 0;
}

int project_open_repository(
	const struct request_mount *m, struct project_source *ret, struct error *err)
{
	AUTO(project_source) s = PROJECT_SOURCE_INIT;
	auto_free char *source = mem_strndup(m->source.p, m->source.len);

	s.fd = file_open_resolved(source, O_PATH);
	if (s.fd < 0 && errno == ENOENT)
		return error_set_errno(err, ERROR_MOUNT_SOURCE_MISSING, errno,
			"the granted repository %s", quoted_string(source));
	if (s.fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return error_set_errno(err, ERROR_MOUNT_CHANGED, errno,
			"the granted repository %s, which was leased", quoted_string(source));
	if (s.fd < 0)
		return refuse_source(err, source, errno);
	s.path = file_fd_path(s.fd);
	if (!s.path)
		return error_set_errno(err, ERROR_MOUNT_SOURCE_UNREADABLE, errno,
			"looking at the granted repository %s", quoted_string(source));
	if (faccessat(AT_FDCWD, s.path, R_OK | X_OK, AT_EACCESS) < 0)
		return refuse_source(err, source, EACCES);
	if (m->read_only && check_no_submount(s.path, err) < 0)
		return -1;
	*ret = s;
	s = PROJECT_SOURCE_INIT;
	return 0;
}

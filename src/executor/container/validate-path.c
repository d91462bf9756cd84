/* Paths: mount targets and project directories (container-driver.md §5.14, §5.15). */
#include "executor/container/validate.h"

#include "base/path.h"

enum { PATH_BYTES_MAX = 4096 };

static bool overlaps(struct text a, struct text b)
{
	return path_at_or_below(a, b) || path_at_or_below(b, a);
}

/* Ours with everything below and above (sandbox-spec.md §7.1). */
static const char *const reserved_trees[] = {
	"/proc",
	"/sys",
	"/dev",
	"/run/cloop",
	"/run/secrets",
	"/run/podman-init",
	"/run/.containerenv",
	"/.dockerenv",
	"/sbin/docker-init",
	"/usr/local/bin/cloop",
	"/etc/resolv.conf",
	"/etc/hosts",
	"/etc/hostname",
};
/* Ours with everything above; what is below is free. */
static const char *const reserved_places[] = {"/workspace", "/tmp"};
static const char *const protected_trees[] = {"/workspace/.git", "/workspace/.cloop"};

static bool reserved(struct text t, bool protect_project_files)
{
	for (size_t i = 0; i < ARRAY_SIZE(reserved_trees); i++)
		if (overlaps(t, text_of(reserved_trees[i])))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(reserved_places); i++)
		if (path_at_or_below(text_of(reserved_places[i]), t))
			return true;
	for (size_t i = 0; protect_project_files && i < ARRAY_SIZE(protected_trees); i++)
		if (path_at_or_below(t, text_of(protected_trees[i])))
			return true;
	return false;
}

int validate_mount_target(struct text t, bool protect_project_files, struct error *err)
{
	struct text judged = t;

	if (!text_is(t, "/") && (!path_clean(t) || t.len > PATH_BYTES_MAX || text_has_control(t)))
		return error_set(
			err, ERROR_MOUNT_INVALID, "mount target %s is not a clean path", quoted(t));
	if (path_at_or_below(t, TEXT("/var/run")))
		judged = text_after(t, strlen("/var"));
	if (reserved(judged, protect_project_files))
		return error_set(
			err, ERROR_RESERVED_TARGET, "mount target %s is reserved", quoted(t));
	return 0;
}

static bool is_one_of(struct text t, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text_is(t, list[i]))
			return true;
	return false;
}

/* Below /run/user/N, N a number. */
static bool below_runtime_dir(struct text t)
{
	size_t n = 0;

	if (!text_starts(t, "/run/user/"))
		return false;
	t = text_after(t, strlen("/run/user/"));
	while (n < t.len && ascii_digit(t.p[n]))
		n++;
	return n > 0 && n < t.len && t.p[n] == '/';
}

/* A directory of the system: exactly these, or these with everything below. */
static bool is_system_dir(struct text t)
{
	static const char *const places[] = {"/", "/home", "/root", "/var", "/tmp", "/opt", "/srv",
		"/mnt", "/media", "/usr", "/etc", "/var/lib", "/var/tmp"};
	static const char *const trees[] = {"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32",
		"/lib64", "/libx32", "/proc", "/sbin", "/sys", "/usr", "/run",
		"/var/lib/containers", "/var/lib/docker"};

	if (is_one_of(t, places, ARRAY_SIZE(places)))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++)
		if (path_at_or_below(t, text_of(trees[i])) && !below_runtime_dir(t))
			return true;
	return false;
}

static int refuse_work_dir(struct text t, const char *why, struct error *err)
{
	return error_set(err, ERROR_WORK_DIR_REFUSED, "project directory %s: %s", quoted(t), why);
}

int validate_work_dir(
	struct text t, struct text user_home, struct text cloop_home, struct error *err)
{
	if (t.len == 0)
		return error_set(err, ERROR_WORK_DIR_MISSING, "no project directory is given");
	if (!path_clean(t) || t.len > PATH_BYTES_MAX || text_has_byte(t, '\0'))
		return error_set(err, ERROR_WORK_DIR_NOT_RESOLVED,
			"project directory %s is not a resolved path", quoted(t));
	if (is_system_dir(t))
		return refuse_work_dir(t, "it belongs to the system", err);
	if (user_home.len && text_equal(t, user_home))
		return refuse_work_dir(t, "it is a whole home directory", err);
	if (cloop_home.len && overlaps(t, cloop_home))
		return refuse_work_dir(t, "it holds cloop's home, or lies in it", err);
	return 0;
}

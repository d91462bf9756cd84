#include "vault/local-repo-list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "sys/file.h"
#include "vault/local-repo.h"
#include "vault/payload.h"

enum { CHILDREN_MAX = 4096 }; /* that the patterns name */

void local_repos_done(struct local_repos *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->v[i].name);
		free(r->v[i].source);
	}
	free(r->v);
	*r = (struct local_repos){.v = NULL};
}

/* The root and what was found below it; the candidates are views into `names` and `links`. */
struct listing {
	const struct strv *patterns;
	char *path;
	int fd;
	struct strv names, links; /* links: "" = none */
	struct local_repo_candidate *candidates;
};

static void listing_done(struct listing *l)
{
	free(l->path);
	cleanup_fd(&l->fd);
	strv_done(&l->names);
	strv_done(&l->links);
	free(l->candidates);
}

static bool has(int dir, const char *name, bool directory)
{
	struct stat st;

	return fstatat(dir, name, &st, 0) == 0 && (!directory || S_ISDIR(st.st_mode));
}

/* `.git` (a worktree's is a file), or the `HEAD` and `objects` of a bare one. */
static bool is_git(int dir)
{
	return has(dir, ".git", false) || (has(dir, "HEAD", false) && has(dir, "objects", true));
}

/* Where a child leads to, and the descriptor of the directory there; -1: it is none. */
static int open_child(const struct listing *l, const char *name, char **ret_link)
{
	struct stat st;
	int fd = openat(l->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && fstatat(l->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
		*ret_link = file_fd_path(fd);
	return fd;
}

static int read_names(struct listing *l, struct error *err)
{
	int fd = openat(l->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	int full = 0;

	if (!dir) {
		cleanup_fd(&fd);
		return error_set_errno(
			err, ERROR_IO, errno, "cannot list %s", quoted_string(l->path));
	}
	for (struct dirent *e; !full && (e = readdir(dir));)
		if (e->d_name[0] != '.' && local_repo_matches(l->patterns, text_of(e->d_name)))
			full = strv_add(&l->names, e->d_name);
	closedir(dir);
	if (full)
		return error_set(err, ERROR_LOCAL_REPO_TOO_MANY,
			"the grant names more than %d children of %s", CHILDREN_MAX,
			quoted_string(l->path));
	strv_sort(&l->names);
	return 0;
}

static void judge_children(struct listing *l)
{
	l->candidates = mem_alloc((l->names.n + 1) * sizeof(*l->candidates));
	for (size_t i = 0; i < l->names.n; i++) {
		struct local_repo_candidate *c = &l->candidates[i];
		auto_free char *link = NULL;
		*c = (struct local_repo_candidate){.name = text_of(l->names.v[i])};
		auto_fd int fd = open_child(l, l->names.v[i], &link);
		c->is_dir = fd >= 0;
		c->is_git = fd >= 0 && is_git(fd);
		if (link) {
			strv_take(&l->links, TAKE_PTR(link));
			c->link = text_of(l->links.v[l->links.n - 1]);
		}
	}
}

static int open_root(struct text payload, struct listing *l, struct error *err)
{
	if (local_repo_payload_check(payload, err) < 0)
		return -1;
	auto_free char *given = mem_strndup(payload.p, payload.len);
	l->path = file_resolve(given);
	if (!l->path || strcmp(l->path, "/") == 0)
		return payload_invalid(err, 0, "path");
	l->fd = open(l->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return l->fd < 0 ? payload_invalid(err, 0, "path") : 0;
}

/* Where a repository of the listing really is. */
static char *source_of(const struct listing *l, const char *name)
{
	for (size_t i = 0; i < l->names.n; i++)
		if (strcmp(l->names.v[i], name) == 0 && l->candidates[i].link.p)
			return mem_strdup(l->candidates[i].link.p);
	return mem_printf("%s/%s", l->path, name);
}

int local_repo_list(struct text payload, const struct strv *patterns, struct local_repos *ret,
	struct error *err)
{
	AUTO(listing)
	l = {.patterns = patterns,
		.fd = -1,
		.names = STRV_INIT(CHILDREN_MAX),
		.links = STRV_INIT(CHILDREN_MAX)};
	AUTO(strv) given = STRV_INIT(LOCAL_REPO_MAX);

	if (open_root(payload, &l, err) < 0 || read_names(&l, err) < 0)
		return -1;
	judge_children(&l);
	struct local_repo_root root = {text_of(l.path), patterns};
	if (local_repo_select(&root, l.candidates, l.names.n, &given, err) < 0)
		return -1;
	ret->n = given.n;
	ret->v = mem_alloc(given.n * sizeof(*ret->v));
	for (size_t i = 0; i < given.n; i++)
		ret->v[i] = (struct local_repo){mem_strdup(given.v[i]), source_of(&l, given.v[i])};
	return 0;
}

/*
 * A directory is locked (flock on itself) by whoever uses it, so a killed process leaves one that
 * is not. Between its making and its lock a sweep may take it for such a one: then it is gone or
 * locked, and another is made.
 */
#include "image/cosign-logins.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json-secret.h"
#include "base/mem.h"
#include "base/strv.h"
#include "sys/env.h"
#include "sys/file-list.h"
#include "sys/file.h"
#include "sys/lockfile.h"
#include "sys/log.h"

#define PREFIX "cloop-cosign-"

enum { PARENTS_MAX = 3, ATTEMPTS = 16, SWEEP_MAX = 20000 };

/* What was made here goes without a descriptor; only what cosign added needs one. */
static bool remove_made(int parent, const char *name)
{
	auto_free char *file = mem_printf("%s/config.json", name);

	unlinkat(parent, file, 0);
	return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

void cosign_logins_done(struct cosign_logins *l)
{
	auto_error struct error why = ERROR_INIT;
	const char *name = l->path ? strrchr(l->path, '/') + 1 : NULL;

	if (name && !remove_made(l->parent, name) && file_remove_tree_at(l->parent, name, &why) < 0)
		log_warning("%s", why.message);
	free(TAKE_PTR(l->path));
	cleanup_fd(&l->dir);
	cleanup_fd(&l->parent);
	l->dir = l->parent = -1;
}

/* ---- The file ---- */

/* Under which key cosign looks for a registry's login. */
static const char *key_of(const struct image_reference *r)
{
	return strcmp(r->registry, "docker.io") == 0 ? "https://index.docker.io/v1/" : r->registry;
}

/* The content of config.json. */
static void compose(const struct image_reference *r, const struct auth_login *l, struct secret *ret)
{
	AUTO(secret) auth = {.p = NULL};
	auto_json_secret *config = json_pack("{s:{}}", "auths");

	if (l->key) {
		auth_login_encode(l, "", &auth);
		json_t *entry = json_pack("{s:s}", "auth", auth.p);
		if (l->identity_token.p)
			json_object_set_new(
				entry, "identitytoken", json_string(l->identity_token.p));
		json_object_set_new(json_object_get(config, "auths"), key_of(r), entry);
	}
	secret_make(json_dumpb(config, NULL, 0, JSON_COMPACT), ret);
	json_dumpb(config, ret->p, ret->len, JSON_COMPACT);
}

static int write_file(int dir, const struct secret *content, struct error *err)
{
	auto_fd int fd = openat(
		dir, "config.json", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return error_set_errno(
			err, ERROR_IO, errno, "cannot make the login file for cosign");
	return file_write_all(fd, content->p, content->len, err);
}

/* ---- The directory ---- */

/* Where one may be, the best place first; NULL = there is none. */
static void list_parents(const char *ret[PARENTS_MAX])
{
	ret[0] = "/dev/shm";
	ret[1] = env_get("XDG_RUNTIME_DIR");
	ret[2] = "/run";
}

/* A directory in memory that we may write to, or -1. */
static int open_parent(const char *path)
{
	auto_fd int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	bool usable =
		fd >= 0 && file_on_tmpfs(fd) == 1 && faccessat(fd, ".", W_OK, AT_EACCESS) == 0;

	return usable ? TAKE_FD(fd) : -1;
}

/* The directory, locked: our own, there, and used by nobody else; else -1. */
static int lock(int parent, const char *name)
{
	auto_fd int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	bool ours = dir >= 0 && fstat(dir, &st) == 0 && st.st_uid == geteuid() &&
		    lockfile_try_directory(dir) && fstat(dir, &st) == 0 && st.st_nlink > 0;

	return ours ? TAKE_FD(dir) : -1;
}

static void sweep_one(int parent, const char *name)
{
	auto_error struct error why = ERROR_INIT;
	auto_fd int dir = lock(parent, name);

	if (dir >= 0 && file_remove_tree_at(parent, name, &why) < 0)
		log_warning("%s", why.message);
}

static void sweep(int parent)
{
	AUTO(strv) names = STRV_INIT(SWEEP_MAX);

	file_list_at(parent, PREFIX, &names);
	strv_foreach (name, &names)
		sweep_one(parent, *name);
}

void cosign_logins_sweep(void)
{
	const char *parents[PARENTS_MAX];

	list_parents(parents);
	for (size_t i = 0; i < PARENTS_MAX; i++) {
		auto_fd int parent = open_parent(parents[i]);
		if (parent >= 0)
			sweep(parent);
	}
}

/* False: none can be made here. */
static bool make_below(const char *parent, struct cosign_logins *ret)
{
	AUTO(cosign_logins) made = COSIGN_LOGINS_INIT;

	made.parent = open_parent(parent);
	for (int i = 0; made.parent >= 0 && made.dir < 0 && i < ATTEMPTS; i++) {
		auto_free char *path = mem_printf("%s/" PREFIX "XXXXXX", parent);
		if (!mkdtemp(path))
			return false;
		made.dir = lock(made.parent, strrchr(path, '/') + 1);
		if (made.dir >= 0)
			made.path = TAKE_PTR(path);
	}
	if (made.dir < 0)
		return false;
	*ret = made;
	made = COSIGN_LOGINS_INIT;
	return true;
}

static int make_dir(struct cosign_logins *ret, struct error *err)
{
	const char *parents[PARENTS_MAX];

	list_parents(parents);
	for (size_t i = 0; i < PARENTS_MAX; i++)
		if (make_below(parents[i], ret))
			return 0;
	error_set(err, ERROR_IO, "no directory in memory for the login that cosign gets");
	return error_set_remedy(err, "make /dev/shm a writable tmpfs");
}

int cosign_logins_make(
	const struct image_reference *r, struct cosign_logins *ret, struct error *err)
{
	AUTO(login_found) found = {.file = NULL};
	AUTO(cosign_logins) made = COSIGN_LOGINS_INIT;
	AUTO(secret) content = {.p = NULL};

	if (logins_find(r, &found, err) < 0 || make_dir(&made, err) < 0)
		return -1;
	compose(r, &found.login, &content);
	if (write_file(made.dir, &content, err) < 0)
		return -1;
	*ret = made;
	made = COSIGN_LOGINS_INIT;
	return 0;
}

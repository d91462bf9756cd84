#include "image/logins.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json-secret.h"
#include "base/mem.h"
#include "sys/env.h"

void login_found_done(struct login_found *f)
{
	auth_login_done(&f->login);
	free(f->file);
	free(f->helper);
	*f = (struct login_found){.file = NULL};
}

/* ---- Where the files are ---- */

enum { FILES_MAX = 4 };

struct candidate {
	char *path; /* NULL: there is none, for want of a variable */
	/*
	 * A directory of the system's, which nobody chose: where it is closed to this user, it
	 * cannot hold a login of theirs.
	 */
	bool of_system;
};

/* $VARIABLE/REST, or NULL. */
static char *below(const char *variable, const char *rest)
{
	const char *directory = env_get(variable);

	return directory ? mem_printf("%s/%s", directory, rest) : NULL;
}

static char *either(char *first, char *second)
{
	if (!first)
		return second;
	free(second);
	return first;
}

static void list_candidates(struct candidate list[FILES_MAX])
{
	const char *named = env_get("REGISTRY_AUTH_FILE");

	list[0].path =
		either(below("DOCKER_CONFIG", "config.json"), below("HOME", ".docker/config.json"));
	list[1].path = named ? mem_strdup(named) : NULL;
	list[2].of_system = !env_get("XDG_RUNTIME_DIR");
	list[2].path = either(below("XDG_RUNTIME_DIR", "containers/auth.json"),
		mem_printf("/run/containers/%u/auth.json", (unsigned)geteuid()));
	list[3].path = either(below("XDG_CONFIG_HOME", "containers/auth.json"),
		below("HOME", ".config/containers/auth.json"));
}

/* ---- One file ---- */

static bool is_missing(const struct candidate *c)
{
	struct stat st;

	if (errno == ENOENT || errno == ENOTDIR)
		return true;
	return errno == EACCES && c->of_system && stat(c->path, &st) < 0;
}

/* 0: *ret_fd is the open file; 1: there is none; -1: auth_file_broken. */
static int open_file(const struct candidate *c, int *ret_fd, struct error *err)
{
	auto_fd int fd = open(c->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 && is_missing(c))
		return 1;
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set_errno(err, ERROR_AUTH_FILE_BROKEN, errno,
			"cannot read the login file %s", quoted_string(c->path));
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_AUTH_FILE_BROKEN,
			"the login file %s is not a regular file", quoted_string(c->path));
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* At most one byte more than AUTH_FILE_MAX_BYTES. */
static int read_all(int fd, const char *path, struct secret *ret, struct error *err)
{
	ssize_t n = 1;
	size_t room = AUTH_FILE_MAX_BYTES + 1;

	secret_make(room, ret);
	ret->len = 0;
	while (n > 0 && ret->len < room) {
		n = read(fd, ret->p + ret->len, room - ret->len);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			ret->len += (size_t)n;
	}
	if (n < 0)
		return error_set_errno(err, ERROR_AUTH_FILE_BROKEN, errno,
			"cannot read the login file %s", quoted_string(path));
	return 0;
}

/* 0: *ret is its content; 1: there is no such file; -1: auth_file_broken. */
static int read_file(const struct candidate *c, json_t **ret, struct error *err)
{
	AUTO(secret) bytes = {.p = NULL};
	auto_fd int fd = -1;
	auto_free char *what = mem_printf("the login file %s", quoted_string(c->path));
	int found = open_file(c, &fd, err);

	if (found != 0)
		return found;
	if (read_all(fd, c->path, &bytes, err) < 0)
		return -1;
	*ret = json_secret_read(
		secret_text(&bytes), AUTH_FILE_MAX_BYTES, what, ERROR_AUTH_FILE_BROKEN, err);
	return *ret ? 0 : -1;
}

static int look_into(const struct candidate *c, const struct image_reference *r,
	struct login_found *found, struct error *err)
{
	auto_json_secret *content = NULL;
	int got = read_file(c, &content, err);

	if (got != 0)
		return got < 0 ? -1 : AUTH_NO_LOGIN;
	got = auth_find(content, c->path, r, &found->login, err);
	const char *helper = got < 0 ? NULL : auth_helper(content, r->registry);
	if (helper && !found->helper)
		found->helper = mem_strdup(helper);
	if (got == 0)
		found->file = mem_strdup(c->path);
	return got;
}

int logins_find(const struct image_reference *r, struct login_found *ret, struct error *err)
{
	struct candidate list[FILES_MAX] = {{.path = NULL}};
	AUTO(login_found) found = {.file = NULL};
	int got = AUTH_NO_LOGIN;

	list_candidates(list);
	for (size_t i = 0; i < FILES_MAX; i++) {
		if (got == AUTH_NO_LOGIN && list[i].path)
			got = look_into(&list[i], r, &found, err);
		free(list[i].path);
	}
	if (got < 0)
		return -1;
	*ret = found;
	found = (struct login_found){.file = NULL};
	return got;
}

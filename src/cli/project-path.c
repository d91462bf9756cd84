#include "cli/project-path.h"

#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "executor/rundir/home.h"
#include "store/project.h"
#include "store/store.h"
#include "sys/file.h"

char *project_path(const struct cli *c, struct error *err)
{
	auto_free char *path = file_resolve(c->dir);
	struct stat st;

	if (!path || stat(path, &st) < 0 || !S_ISDIR(st.st_mode)) {
		error_set(err, ERROR_NOT_A_PROJECT, "%s is no directory", quoted_string(c->dir));
		return NULL;
	}
	return TAKE_PTR(path);
}

struct search {
	const char *shown;
	char *path; /* of the project that is shown so */
};

static void compare(void *data, const struct store_project *p)
{
	struct search *search = data;
	auto_json *text = json_from_bytes(p->path);
	auto_free char *plain = cli_plain(json_string_value(text));

	/* A path that needs no escaping is met as it is, whatever others look like. */
	bool same = text_is(p->path, search->shown);
	if (!same && (search->path || strcmp(plain, search->shown) != 0))
		return;
	free(search->path);
	search->path = mem_strndup(p->path.p, p->path.len);
}

/* NULL: no project of the store is shown so. */
static char *find(struct cli *c)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO_PTR(store) store = NULL;
	struct search search = {c->dir, NULL};

	if (project_path_store(c, false, &store, &ignored) == 0 &&
		store_project_list(store, compare, &search, &ignored) < 0)
		error_clear(&ignored);
	return search.path;
}

char *project_path_gone(struct cli *c, struct error *err)
{
	auto_free char *path = file_resolve(c->dir);

	if (path && strcmp(path, c->dir) == 0)
		return TAKE_PTR(path);
	char *known = c->dir[0] == '/' ? find(c) : NULL;
	if (known || path)
		return known ? known : TAKE_PTR(path);
	if (c->dir[0] == '/')
		return mem_strdup(c->dir);
	auto_free char *here = file_resolve(".");
	if (!here) {
		error_set(err, ERROR_NOT_A_PROJECT, "the current directory cannot be resolved");
		return NULL;
	}
	return mem_printf("%s/%s", here, c->dir);
}

int project_path_store(struct cli *c, bool make, struct store **ret, struct error *err)
{
	AUTO(home) home = HOME_INIT;

	if (cli_home_open(c, &home, err) < 0)
		return -1;
	return make ? store_open(home.path, ret, err) : store_open_existing(home.path, ret, err);
}

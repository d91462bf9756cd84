#include "cli/project-path.h"

#include <sys/stat.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "executor/rundir/home.h"
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

char *project_path_gone(const struct cli *c, struct error *err)
{
	char *path = file_resolve(c->dir);

	if (path)
		return path;
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

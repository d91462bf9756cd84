/* The project that a command means, as the key of its rows (config.md §4), and their store. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct cli;
struct home;
struct store;

/* The resolved path of -C; caller frees. NULL: not_a_project. */
must_check char *project_path(const struct cli *c, struct error *err);
/*
 * The same for commands about what is on record: a directory that is gone is named as it was. And
 * what -C says may be a project as the lists show it: a path that is a link by now, or one that is
 * no UTF-8, whose odd bytes are shown as \xNN. That counts before what the path leads to.
 */
must_check char *project_path_gone(struct cli *c, struct error *err);

/*
 * The store of --home, the home being opened (made) for it: 0, or 1 = it has none yet, and `make`
 * is not set.
 */
must_check int project_path_store(struct cli *c, bool make, struct store **ret, struct error *err);

/* The project that a command means, as the key of its rows (config.md §4), and their store. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct cli;
struct home;
struct store;

/* The resolved path of -C; caller frees. NULL: not_a_project. */
must_check char *project_path(const struct cli *c, struct error *err);
/* The same, but a directory that is gone is named as it was. */
must_check char *project_path_gone(const struct cli *c, struct error *err);

/*
 * The store of --home, the home being opened (made) for it: 0, or 1 = it has none yet, and `make`
 * is not set.
 */
must_check int project_path_store(struct cli *c, bool make, struct store **ret, struct error *err);

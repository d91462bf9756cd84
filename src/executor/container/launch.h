/*
 * The part of a start that holds values of variables: handed from dispatch to the supervisor in a
 * sealed memfd, never written to a file, wiped when released (container-driver.md §8.4, §9.1).
 */
#pragma once

#include "base/json.h"
#include "base/strv.h"

struct launch {
	struct strv run_env;  /* environment of the `run` client: client_env and routes by name */
	char *env_file;       /* content for descriptor 3, or NULL */
	struct strv expected; /* NAME=VALUE that must arrive (§9.6) */
};
#define LAUNCH_INIT ((struct launch){.run_env = STRV_INIT(1024), .expected = STRV_INIT(1024)})
void launch_done(struct launch *l);
must_check json_t *launch_to_json(const struct launch *l);
must_check int launch_from_json(json_t *object, struct launch *ret, struct error *err);

/*
 * The part of a start that holds values of variables: handed from dispatch to the supervisor in a
 * sealed memfd, never written to a file, wiped when released (container-driver.md §8.4, §9.1).
 */
#pragma once

#include "base/json.h"
#include "base/secret.h"
#include "base/strv.h"

enum { LAUNCH_FILES_MAX = 256 };

struct launch {
	struct strv run_env;  /* environment of the `run` client: client_env and routes by name */
	char *env_file;       /* content for descriptor 3, or NULL */
	struct strv expected; /* NAME=VALUE that must arrive (§9.6) */
	/*
	 * Sizes of the lease's files, in the order of the plan. Their contents, one behind the
	 * other, are in a memfd of their own: any bytes, copied by nobody.
	 */
	size_t file_sizes[LAUNCH_FILES_MAX];
	size_t n_files;
	/* Of the run's session under an egress grant; p NULL = it has none. */
	struct secret egress_token;
	int64_t egress_deadline_ms; /* boottime */
};
#define LAUNCH_INIT ((struct launch){.run_env = STRV_INIT(1024), .expected = STRV_INIT(1024)})
void launch_done(struct launch *l);
/* To be released by json_secret_free(). */
must_check json_t *launch_to_json(const struct launch *l);
must_check int launch_from_json(json_t *object, struct launch *ret, struct error *err);

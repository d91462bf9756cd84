/*
 * Environments of an engine's client and of the workload (container-driver.md §4.3, §8). All of it
 * is pure. No message quotes a value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strv.h"
#include "executor/container/runtime.h"

enum { ENVIRONMENT_NAMES_MAX = 512 };

/* How a variable reaches the sandbox: by name from the client's environment, or by env file. */
enum environment_route { ENVIRONMENT_NAME, ENVIRONMENT_FILE };

/*
 * The route of one variable (§8.4): by file when the name means something to the engine's client.
 * Errors: env_name_*, env_value_nul, env_value_too_large, env_reserved_multiline,
 * env_reserved_encoding.
 */
must_check int environment_route(
	struct text name, struct text value, enum environment_route *ret, struct error *err);

/* What a workload's list comes to (§8.3): each name once, at its first place, with the last value.
 */
struct environment_plan {
	struct strv entries; /* NAME=VALUE */
	bool in_file[ENVIRONMENT_NAMES_MAX];
	struct str file; /* content of the env file; empty = there is none */
	bool has_home;   /* the workload sets HOME */
};
/* Wipes the values. */
void environment_plan_done(struct environment_plan *p);
/*
 * Splits, judges all names, counts, then routes. Errors: those of environment_route(),
 * env_entry_invalid, env_too_many. *ret must be empty; it is filled on success only.
 */
must_check int environment_plan(
	const struct text *entries, size_t n, struct environment_plan *ret, struct error *err);
/*
 * The same list for a workload that no engine's client stands before: judged and merged alike, but
 * for the rules of the env file. Appended to *ret on success only.
 */
must_check int environment_entries(
	const struct text *entries, size_t n, struct strv *ret, struct error *err);
/*
 * Appends the entries that travel by name to the environment of a `run` or `create` client, by
 * strv_add() or its like; -1: they are too many.
 */
int environment_plan_add_client(const struct environment_plan *p,
	int (*add)(struct strv *env, const char *entry), struct strv *env);

/*
 * The absolute entries of a PATH, once each; the default when there is none (§4.3). own may be
 * NULL. Caller frees.
 */
must_check char *environment_path(const char *own);
/*
 * Appends the environment of a client of `engine` to *ret: a function of our own environment
 * (`own`, NULL-terminated NAME=VALUE list) and, for docker, of the resolved endpoint and the
 * private configuration directory (NULL or empty: left out). Nothing of the workload is in it.
 */
void environment_client(enum engine engine, char *const *own, const char *docker_host,
	const char *docker_config, struct strv *ret);

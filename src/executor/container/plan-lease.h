/*
 * What a run holds of its lease, as request.json says it: names, modes and whose they are, never a
 * value (container-driver.md §9.1 step 3, §15). Part of the plan (plan.h).
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/json.h"
#include "base/strv.h"

enum {
	PLAN_LEASE_FILES_MAX = 256,
	PLAN_LEASE_BINDINGS_MAX = 256,
	PLAN_LEASE_KEYS_MAX = 512, /* variables of a binding */
};

struct plan_secret_file {
	char *name;
	mode_t mode;
};

/* What one grant brought: what a revocation of it has to reach (§15.4). */
struct plan_binding {
	char *grant, *kind;
	struct strv files;    /* names in the stage */
	struct strv env_keys; /* variables that hold a value of it */
};

struct plan_lease {
	char *id;                     /* NULL = the run has none */
	char *dir;                    /* inside; NULL = no files, and so no stage */
	char *stage;                  /* directory of the host that is mounted there */
	int64_t expires_at, hard_end; /* seconds since 1970; hard_end 0 = none */
	bool lasting;                 /* it is not extended, and does not expire */
	struct plan_secret_file *files;
	size_t n_files;
	struct plan_binding *bindings;
	size_t n_bindings;
};
void plan_lease_done(struct plan_lease *l);

/* -1: the list is full. Strings are copied. */
must_check int plan_lease_add_file(struct plan_lease *l, const char *name, mode_t mode);
/* A new binding without files and variables; NULL: the list is full. */
must_check struct plan_binding *plan_lease_add_binding(
	struct plan_lease *l, const char *grant, const char *kind);

/* null for a run without a lease. */
must_check json_t *plan_lease_to_json(const struct plan_lease *l);
/* null and NULL: none. -1: not of the form. */
must_check int plan_lease_from_json(const json_t *j, struct plan_lease *ret);

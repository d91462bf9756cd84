/*
 * `.cloop/sandbox.yaml`: its normal form and how bytes become it (sandbox-spec.md §3-§8). Pure.
 * Finding and reading the file: spec-load.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/hash.h"
#include "limits/limits.h"
#include "schema/schema.h"
#include "yaml/problem.h"

#define SPEC_PATH ".cloop/sandbox.yaml"

enum { SPEC_MAX_BYTES = 65536, SPEC_MAX_MOUNTS = 16, SPEC_PLACES = 13 };

struct spec_mount {
	char *source; /* relative to the project, clean */
	char *target; /* absolute, clean, not reserved */
	bool read_only;
};

struct spec_capabilities {
	bool git;
	char *network; /* ID of an egress grant; NULL = no network */
	bool virtualized;
	bool kernel_isolated;
	char *egress;                  /* "public", "none" or NULL */
	struct schema_list devices;    /* not given: every granted one; empty: none */
	struct schema_list interfaces; /* the same */
};

/* §8.1. Strings hold no NUL; lists are in file order, duplicates collapsed where §7 says so. */
struct sandbox_spec {
	char *image; /* as written; NULL = the executor's */
	struct schema_list setup;
	struct schema_list env; /* not given: everything passes; empty: nothing */
	struct limits resources;
	struct spec_capabilities capabilities;
	struct schema_entries mounts; /* of struct spec_mount */
};

void spec_done(struct sandbox_spec *s);
/* The i-th mount. */
const struct spec_mount *spec_mount_at(const struct sandbox_spec *s, size_t i);

/* What other layers judge of a value. */
struct spec_checks {
	/* image_reference_parse() without its parts (image-trust.md §2): 0, or -1 + err. */
	int (*image)(struct text t, struct error *err);
};

/*
 * The answer for one text. ok = no error. present = at least one key says something (§8.2): a spec
 * that is not present leaves a run as it was. Without ok there is no spec, and present says that
 * there is a file: it is never "no file".
 */
struct spec_result {
	bool ok;
	bool present;
	struct sandbox_spec spec;
	struct position at[SPEC_PLACES];    /* see spec_result_at() */
	char *refused_image;                /* as written, when `image` is malformed; else NULL */
	size_t refused_image_len;           /* it may hold NUL */
	char sha256[SHA256_HEX_SIZE];       /* "" = null */
	char setup_sha256[SHA256_HEX_SIZE]; /* "" = null */
	struct problems errors;             /* in file order; at most 101 records */
	struct problems warnings;
};
/* No file: valid, says nothing. */
void spec_result_init(struct spec_result *r);
void spec_result_done(struct spec_result *r);

/* Judges the bytes of a file. *ret is initialised here. Never fails otherwise than by its errors.
 */
void spec_parse(struct text bytes, const struct spec_checks *checks, struct spec_result *ret);

/*
 * Position of a value that others judge further, by the path of its key ("resources.pids");
 * POSITION_NONE: it is not in the file, or nobody else judges it.
 */
struct position spec_result_at(const struct spec_result *r, const char *path);

/* Makes r the answer of one error without position (§2). */
void spec_result_refuse(struct spec_result *r, enum problem_code code, const char *message);

/*
 * The envelope of a refused file: sandbox_invalid_spec with the joined message of §4 and member
 * `errors`. r must not be ok. Always returns -1.
 */
int spec_result_error(const struct spec_result *r, struct error *err);

/*
 * Everything that is decided about a run before anything of it exists, in the order of
 * sandbox-spec.md §9.1: file, image, gate, ceilings, apply, environment, limits. `cloop run`
 * carries a decision out, `cloop sandbox explain` shows it. Reads the file; asks no engine.
 */
#pragma once

#include "limits/effective.h"
#include "run/ceilings.h"
#include "run/choice.h"
#include "run/context.h"
#include "spec/apply.h"
#include "spec/requirement.h"
#include "spec/run-spec.h"

enum { DECISION_ENV_MAX = 4096 };

struct offer;
struct run_egress;

struct decision_input {
	const char *project;     /* directory */
	const char *executor_id; /* --executor; NULL: not given */
	const char *binding;     /* executor that the project is bound to; NULL: none */
	/* NAME=VALUE given by the caller; the file's `env` filters it. */
	const struct strv *env;
	/* Program that an image must carry for the project's provider; NULL: none. */
	const char *harness;
	/* Grants that match the run; NULL: none. */
	const struct offer *offer;
	/* Of the executor and the project; NULL: none is stored. That of the fleet is not read. */
	const struct ceilings *ceilings;
	/* Egress grants that the run holds; NULL: none. */
	const struct run_egress *egress;
};

struct decision {
	struct executor *executor; /* borrowed from the context */
	struct choice choice;      /* … and how it was chosen */
	struct candidate able;     /* what it advertises */
	struct spec_result file;
	struct run_spec run; /* applied */
	struct requirement need;
	struct ceilings ceilings;
	struct effective limits;
	bool default_unheld[RESOURCE_COUNT]; /* a limit of the configuration that is not held */
	struct strv env;                     /* what passed the filter */
	struct strv names;                   /* … and its names */
	struct strv withheld;  /* names that the caller gave and the file's `env` has not */
	struct strv harnesses; /* programs that the image must carry (image-trust.md §10) */
	struct problems warnings;
};
#define DECISION_INIT \
	((struct decision){.run = RUN_SPEC_INIT, \
		.warnings = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX), \
		.env = STRV_INIT(DECISION_ENV_MAX), \
		.names = STRV_INIT(DECISION_ENV_MAX), \
		.withheld = STRV_INIT(DECISION_ENV_MAX), \
		.harnesses = STRV_INIT(REQUIREMENT_HARNESSES_MAX)})
void decision_done(struct decision *d);

/*
 * Steps 1 to 3 as far as they need no grants: which executor it is. Errors in the order of §9.1:
 * sandbox_invalid_spec, sandbox_image_denied, those of choice_make(). *ret is DECISION_INIT and is
 * to be released in every case.
 */
must_check int decision_choose(const struct context *c, const struct decision_input *in,
	struct decision *ret, struct error *err);
/*
 * The rest, of a decision that has its executor; in->offer is that executor's:
 * host_execution_denied and sandbox_unsupported, limits_configuration, those of apply_spec().
 */
must_check int decision_make(const struct context *c, const struct decision_input *in,
	struct decision *ret, struct error *err);
/* Of the record: limits{requested, effective, source, clamps, unenforced}. */
must_check json_t *decision_limits_to_json(const struct decision *d);
/*
 * Puts the warnings of the file, of clamps, of ceilings and configured limits that nobody holds,
 * and of variables that the file withholds into a record.
 */
void decision_warn(const struct decision *d, json_t *record);

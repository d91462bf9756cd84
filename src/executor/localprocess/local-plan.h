/*
 * What was decided about a host process, handed to its supervisor: `request.json` of the run
 * directory. Values of variables are not in it (they travel as a struct launch, in memory only).
 */
#pragma once

#include "base/json.h"
#include "base/strv.h"

enum { LOCAL_WORDS_MAX = 4096 };

struct local_plan {
	char *project;       /* resolved; the working directory */
	struct strv command; /* at least one word */
	struct strv redact;  /* names of variables whose values are masked in the output */
	int64_t stop_grace_ms, timeout_ms, log_max_mb; /* timeout 0 = none */
};
#define LOCAL_PLAN_INIT \
	((struct local_plan){ \
		.command = STRV_INIT(LOCAL_WORDS_MAX), .redact = STRV_INIT(LOCAL_WORDS_MAX)})
void local_plan_done(struct local_plan *p);

must_check json_t *local_plan_to_json(const struct local_plan *p);
/* Errors: io, naming the member that is missing or of the wrong type. ret: LOCAL_PLAN_INIT. */
must_check int local_plan_from_json(const json_t *j, struct local_plan *ret, struct error *err);

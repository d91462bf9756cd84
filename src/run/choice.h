/*
 * Which executor a run gets (sandbox-spec.md §9.1 step 3, §12, §13; config.md §4). The first that
 * says something decides: --executor, the project's binding, executors.default, the only executor
 * that is enabled. Otherwise placement chooses among all of them, and never one that does not
 * isolate: work comes to the host only where somebody named it. Asks no engine.
 */
#pragma once

#include <jansson.h>

#include "run/context.h"
#include "run/provider.h"
#include "spec/requirement.h"

enum choice_by {
	CHOICE_OPTION,
	CHOICE_BINDING,
	CHOICE_DEFAULT,
	CHOICE_ONLY,
	CHOICE_PLACEMENT,
	CHOICE_BY_COUNT
};
const char *choice_by_text(enum choice_by by); /* option, binding, default, only, placement */
int choice_by_from_text(struct text t);

struct choice_input {
	const char *option;  /* --executor; NULL = not given */
	const char *binding; /* of the project; NULL = none */
	const struct requirement *need;
};

struct choice {
	struct executor *executor; /* borrowed from the context */
	enum choice_by by;
	size_t considered;  /* executors that were asked */
	json_t *rejections; /* of placement: who does not take the run, and why; NULL = none */
};
void choice_done(struct choice *c);

/*
 * An executor that was named is not judged here (gate_check() does), but for one that the operator
 * has not switched on: host_execution_denied. executor_unknown; the reason why a named one cannot
 * be used at all; no_placement.
 */
must_check int choice_make(const struct context *c, const struct choice_input *in,
	struct choice *ret, struct error *err);
/*
 * The gate (§13) of an executor, registered or not: 0, *ret_network_off_unproven as gate_check();
 * host_execution_denied, sandbox_unsupported.
 */
must_check int choice_gate(const struct context *c, const struct candidate *able,
	const struct requirement *need, bool *ret_network_off_unproven, struct error *err);

/* Of the warning network_off_unproven. */
#define CHOICE_UNPROVEN "the executor cannot prove that a network that is off stays off"

/* What a bound project's valid file is judged with by itself, without its grants. */
struct choice_file {
	const struct spec_result *file;
	const struct provider *provider; /* with a binding */
};
/* 0: the executor that the project is bound to takes the file; else as choice_make() and
 * choice_gate(). */
must_check int choice_judge_file(const struct context *c, const struct choice_file *f,
	bool *ret_network_off_unproven, struct error *err);
/* {"selected","by","considered","rejections"} */
must_check json_t *choice_to_json(const struct choice *c);

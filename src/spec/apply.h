/*
 * What a present spec does to a run (sandbox-spec.md §9.2): it narrows, and adds nothing that was
 * not granted. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "spec/run-spec.h"
#include "spec/spec.h"

struct apply_grant {
	const char *id;
	const char *scope; /* a label for people, NULL = none; never matched */
	bool active;       /* neither revoked nor expired */
	bool this_project; /* its subject is the project of the run */
};

struct apply_facts {
	const struct apply_grant *grants; /* egress grants that were read from the store */
	size_t n_grants;
	const char *executor_network; /* as configured; NULL or "" counts as "none" */
	const char *project;          /* its path, for remedies; NULL = unknown */
};

/*
 * Applies file (ok) to *run and adds the warnings of this step (`network_off`) to the list. On
 * failure *run is what it was: sandbox_device_not_granted, sandbox_interface_not_granted (both
 * with detail `names`), sandbox_grant_denied, interfaces_without_network. A file that is not
 * present changes nothing.
 */
must_check int apply_spec(const struct spec_result *file, const struct apply_facts *facts,
	struct run_spec *run, struct problems *warnings, struct error *err);

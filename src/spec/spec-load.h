/*
 * Finding and reading `.cloop/sandbox.yaml` (sandbox-spec.md §2). The only I/O of this folder. The
 * file is read once, without following any link below the project and without waiting for
 * anything; the bytes read are the bytes judged.
 */
#pragma once

#include "base/error.h"
#include "spec/spec.h"

/*
 * project = descriptor of the project directory. *ret (initialised here) is the answer: no file is
 * a valid spec that is not present; everything an author can do wrong is an error in it. -1 +
 * sandbox_file_io: the system failed, nothing is known, the run is refused.
 */
must_check int spec_load(
	int project, const struct spec_checks *checks, struct spec_result *ret, struct error *err);
/* The same for a project directory by its path (links in it are the operator's business). */
must_check int spec_load_dir(const char *path, const struct spec_checks *checks,
	struct spec_result *ret, struct error *err);
/* `sandbox check FILE`: the rules from the file on. 1: there is no such file. */
must_check int spec_load_file(const char *path, const struct spec_checks *checks,
	struct spec_result *ret, struct error *err);

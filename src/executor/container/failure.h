/*
 * What an engine's words about a failed call mean (container-driver.md §4.4, §10.4). Exit codes are
 * not interpreted: they also come from bad flags, cgroups and rlimits.
 */
#pragma once

#include "base/error.h"
#include "executor/container/runtime.h"

enum { FAILURE_QUOTE_BYTES_MAX = 400 };

/* The code of §10.4 for stderr; engine_failed when no row fits. */
enum error_code failure_code(struct text words);
/*
 * The words shown to a person: the first non-blank line of `err` (of `out` when there is none; a
 * warning of podman's log, or a remark that it always makes, counts only where nothing else is
 * said), at most 400 bytes
 * of it, control characters escaped. Appended; nothing when both are blank.
 */
void failure_quote(struct str *ret, const struct str *err, const struct str *out);

struct failure {
	enum engine engine;
	struct text call;  /* what was asked of the engine, for the message: "run" */
	struct text image; /* as on the line, for the remedy; may be empty */
	const struct str *err, *out;
};
/* Fills err with code, message (the engine's words, quoted) and a remedy that names the engine. */
int failure_explain(const struct failure *f, struct error *err);

/*
 * Ceilings: the operator's caps, from three places, and the bounds that each of them must keep
 * (sandbox-spec.md §10.1, §10.2, §10.4). A member of 0 is no ceiling.
 */
#pragma once

#include "base/error.h"
#include "limits/limits.h"
#include "limits/resource.h"

/* In the order in which they are applied and credited. */
enum ceiling { CEILING_FLEET, CEILING_EXECUTOR, CEILING_PROJECT, CEILING_COUNT };
const char *ceiling_text(enum ceiling c);
int ceiling_from_text(struct text t);

/* What a ceiling may be besides 0: everything up to the maximum, sizes from the minimum on. */
enum {
	CEILING_CPU_MAX = 1024000,
	CEILING_MB_MIN = 64,
	CEILING_MB_MAX = 1 << 20,
	CEILING_PIDS_MAX = 65536,
};

/*
 * Judges a ceiling that was stored or is about to be: 0, or -1 limits_configuration, naming `what`
 * ("project ceiling"), the resource and the value. Nothing is ever read as "no ceiling" instead.
 */
must_check int ceiling_check(const struct limits *l, const char *what, struct error *err);
/*
 * Text of an operator (`limits set`) → value: cpu grammar, size or integer (§5, §6), trimmed. -1
 * limits_configuration; the message names the fault, details hold `rule` with the code of §10.2.
 */
must_check int ceiling_parse(enum resource r, struct text value, uint64_t *ret, struct error *err);

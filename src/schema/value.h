/*
 * The grammars of values that people write in a configuration (sandbox-spec.md §5, §6): text is
 * trimmed, then judged. Pure; the command line uses them as well as the tables.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "yaml/problem.h"

enum {
	VALUE_NUMBER_MAX = 32, /* bytes of a number or size */
	VALUE_SIZE_MAX_MB = 1 << 20,
	VALUE_CPU_MAX_MILLIS = 1024000,
};

/*
 * All of them: PROBLEM_NONE and a value; or the code of the fault. PROBLEM_TOO_LARGE leaves max in
 * *ret, so that a caller may clamp.
 */
/* empty, too_long, negative, not_a_size, too_large. In MB, rounded up. */
enum problem_code value_size(struct text t, uint64_t max_mb, uint64_t *ret_mb);
/* empty, too_long, negative, not_a_number, too_large. In thousandths of a core. */
enum problem_code value_cpu(struct text t, uint64_t max_millis, uint64_t *ret_millis);
/* empty, too_long, negative, not_a_number, too_large. */
enum problem_code value_integer(struct text t, uint64_t max, uint64_t *ret);
/* With an optional `-`: empty, too_long, not_a_number; above INT64_MAX it saturates. */
enum problem_code value_signed(struct text t, int64_t *ret);

/* What such a code says of the value: "is empty". Of PROBLEM_BELOW_MINIMUM as well. */
const char *value_fault_text(enum problem_code code);

/*
 * What was probably meant by text that is not a size: `2gb`, `4 G` -> "2g", "4g"; `1.5g` ->
 * "1536m". False where nothing can be said.
 */
bool value_size_advice(struct text t, struct str *out);
/* What was probably meant by text that is not a boolean: "true", "false" or NULL. */
const char *value_boolean_advice(struct text t);

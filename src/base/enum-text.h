/*
 * Names of an enumeration, complete at compile time:
 *
 *     static const char *const names[] = {[STATE_PENDING] = "pending", …};
 *     ENUM_TEXT(run_state, names, RUN_STATE_COUNT)
 *
 * defines `const char *run_state_text(enum run_state)` (never NULL; abort on a value outside) and
 * `int run_state_from_text(struct text)` (-1: not a name). Declare both in the header.
 */
#pragma once

#include <assert.h>

#include "base/cleanup.h"
#include "base/text.h"

static inline int enum_from_text(const char *const *names, size_t n, struct text t)
{
	for (size_t i = 0; i < n; i++)
		if (names[i] && text_is(t, names[i]))
			return (int)i;
	return -1;
}

#define ENUM_TEXT(type, names, count) \
	static_assert(ARRAY_SIZE(names) == (size_t)(count), "a name for every " #type); \
	const char *type##_text(enum type value) \
	{ \
		assert((size_t)value < (size_t)(count) && (names)[value]); \
		return (names)[value]; \
	} \
	int type##_from_text(struct text t) \
	{ \
		return enum_from_text(names, (size_t)(count), t); \
	}

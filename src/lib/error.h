/* Errors as the library's callers see them (include/cloop/error.h) around those of the tree. */
#pragma once

#include "base/error.h"
#include "cloop/error.h"

struct cloop_error {
	struct error inner;
};

/*
 * Begins a public function that can fail: `struct error *NAME` is the inside of the caller's error,
 * empty, or of one that nobody sees.
 */
#define LIB_ERROR(name, err) \
	auto_error struct error name##_unseen = ERROR_INIT; \
	struct error *name = lib_error_begin(err, &name##_unseen)
struct error *lib_error_begin(struct cloop_error *err, struct error *unseen);

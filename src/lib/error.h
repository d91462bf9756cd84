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

/*
 * Of pointers that a public function needs, by name: true, and `usage` for the first one that is
 * NULL (include/cloop/base.h). Stands before everything else that the function does.
 */
#define LIB_MISSING(err, ...) \
	lib_missing((err), #__VA_ARGS__, (const void *const[]){__VA_ARGS__}, \
		sizeof((const void *const[]){__VA_ARGS__}) / sizeof(const void *))
must_check bool lib_missing(
	struct error *err, const char *names, const void *const *given, size_t n);
/* Of a list in a struct: true, and `usage`, when it is NULL and still has entries. */
must_check bool lib_missing_list(struct error *err, const char *name, const void *list, size_t n);

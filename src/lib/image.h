/* Images of an engine's store, for the library's callers (include/cloop/image.h). */
#pragma once

#include "base/error.h"
#include "cloop/image.h"
#include "executor/container/runtime.h"

/*
 * Looks a reference up. 0: pinned by digest; 1: it is there and has none. Errors: as
 * image_store_look_up(). *ret: cloop_image_identity_free().
 */
must_check int lib_image_look_up(const struct runtime *runtime, const char *ref,
	struct cloop_image_identity **ret, struct error *err);

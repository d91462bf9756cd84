/* What killed verifications left behind (image-trust.md §8). */
#pragma once

#include "base/error.h"

/*
 * Removes the login directories that nobody uses any more, and those lock files of verifications
 * below the home that nobody holds. -1: io, of a lock file; a home without locks is fine.
 */
must_check int trust_reap(const char *home, struct error *err);

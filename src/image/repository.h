/* Repositories: the path of a name behind its registry (image-trust.md §2.1). */
#pragma once

#include "base/text.h"

enum repository_fault { REPOSITORY_OK, REPOSITORY_UPPERCASE, REPOSITORY_BAD };

/*
 * Judges the components from left to right; the first one at fault decides, an upper-case letter
 * anywhere in it before anything else. *ret_where is where that component begins.
 */
enum repository_fault repository_judge(struct text path, const char **ret_where);

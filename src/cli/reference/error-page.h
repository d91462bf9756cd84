/* docs/reference/errors.md: the error codes, and the problems of a file that somebody wrote. */
#pragma once

#include "base/error.h"
#include "base/str.h"

/* -1: a code has no meaning yet (error-meanings.c). */
must_check int error_page(struct str *out, struct error *err);
/* A table of the codes of `errors` and `warnings` of a text (yaml/problem-list.h). */
void error_page_problems(struct str *out);

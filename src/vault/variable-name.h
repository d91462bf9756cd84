/* Variables that are named after something (disk-and-secrets.md §16.3, §16.5). Pure. */
#pragma once

#include "base/strv.h"
#include "base/text.h"

/*
 * prefix and the name: ASCII letters in upper case, every other character but digits as `_`. Caller
 * frees.
 */
must_check char *variable_name_of(const char *prefix, struct text name);
/* Does another of the names give the same variable? Then neither gets one. */
bool variable_name_ambiguous(const struct strv *names, const char *name);

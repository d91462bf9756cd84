/* Texts and lists of texts between the library's callers and the tree. */
#pragma once

#include "base/strv.h"

/* A text that may be NULL: then "". */
static inline const char *lib_text(const char *text)
{
	return text ? text : "";
}

/* The same the other way round: NULL where nothing is given. */
static inline const char *lib_given(const char *text)
{
	return text && text[0] ? text : NULL;
}

/* A list without entries. */
static inline const char *const *lib_strings_none(void)
{
	static const char *const none[] = {NULL};

	return none;
}

/* A copy that the caller gets (cloop_strings_free()); ends with NULL. */
must_check char **lib_strings_give(const struct strv *list);
/* Appends a caller's list, which ends with NULL and may be NULL; -1: more than *ret holds. */
must_check int lib_strings_take(const char *const *list, struct strv *ret);

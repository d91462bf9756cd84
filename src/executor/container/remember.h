/*
 * Answers of an engine that hold as long as certain files stay untouched: kept below <home>/cache
 * with what stat(2) says of those files, so that a run need not ask again (each question to podman
 * or docker costs 20-60 ms of a start). A file that changed, appeared or went makes the answer
 * forgotten; a cache that cannot be read or written only costs time.
 */
#pragma once

#include "base/json.h"
#include "base/strv.h"

enum { REMEMBER_FILES_MAX = 16 };

/* Stamps of the files as they are now: take them before the question is asked. */
must_check json_t *remember_stamps(const struct strv *files);
/*
 * The answer kept for `kind` and `key`, or NULL: none, or one of its files is not as it was. home
 * NULL: none. Caller owns it.
 */
must_check json_t *remember_get(const char *home, const char *kind, struct text key);
/* Keeps `answer`; takes nothing. */
void remember_put(
	const char *home, const char *kind, struct text key, json_t *stamps, json_t *answer);

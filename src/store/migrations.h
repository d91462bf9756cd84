/* The tables of state.db, as the steps that made them. */
#pragma once

#include <stddef.h>

/*
 * SQL that leads from user_version i to i + 1. Steps are only ever appended: a file anywhere may
 * be at any of them.
 */
extern const char *const migrations[];
extern const size_t migrations_count;

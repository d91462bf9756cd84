/* The table of commands and questions about it. */
#pragma once

#include <stdio.h>

#include "cli/verb.h"

/* All rows in the order of the help, NULL at the end. */
extern const struct verb *const verbs[];

/* Options that the frame itself knows; ended by a row without name. */
extern const struct option verbs_common[];
/* VERB_JSON … for a row of verbs_common; 0: every command takes it. */
unsigned verbs_common_flag(const struct option *o);

/* NULL when there is none. group NULL: the commands of one word. */
const struct verb *verbs_find(const char *group, const char *name);
bool verbs_is_group(const char *word);
/* One line about a group of commands. */
const char *verbs_group_summary(const char *group);
/* Of the verb's own options and then the common ones; NULL. verb may be NULL. */
const struct option *verbs_option(const struct verb *v, const char *name, size_t len);

/* "sandbox check", with `separator` for the blank. */
void verbs_write_name(struct str *out, const struct verb *v, char separator);
/*
 * The word meant by a mistyped one: the command of the group (NULL: one word, or a group) at the
 * smallest edit distance, at most 2; NULL when nothing is near.
 */
const char *verbs_nearest(const char *group, const char *word);
/* Fills err: there is no such command; the remedy names the one that was probably meant. -1. */
int verbs_unknown(const char *group, const char *word, struct error *err);
const char *verbs_nearest_option(const struct verb *v, const char *word);

/* Loops over the options a command takes, its own first: `o` runs, `v` stays. */
const struct option *verbs_next_option(const struct verb *v, const struct option *o);
#define verbs_foreach_option(o, v) \
	for (const struct option *o = verbs_next_option(v, NULL); o; o = verbs_next_option(v, o))

/* Help texts, at most 80 columns wide, from the verb table. */
#pragma once

#include "base/str.h"
#include "base/strv.h"
#include "cli/verb.h"

/*
 * Prints the help of a command, of a group (verb NULL), or the overview (both NULL) on stdout.
 * Always 0.
 */
int help_show(const char *group, const struct verb *v, struct error *err);

/* The texts themselves. */
void help_overview(struct str *out);
void help_group(struct str *out, const char *group);
void help_verb(struct str *out, const struct verb *v);

/* "cloop run [--executor ID] [-- ARGV…]" as words that may be broken between each other. */
void help_usage_words(const struct verb *v, struct strv *ret);
/* What the command's exit statuses mean: "0 done; 1 refused or failed; 2 wrong usage". */
const char *help_exit_status(const struct verb *v);
/* Appends "--executor ID" as a reader should type it. */
void help_option_text(struct str *out, const struct option *o);

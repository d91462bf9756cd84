/*
 * The verb table: one row per command, from which parsing, help, completion and the man pages are
 * made. A command is a file cmd-*.c that exports its row; verbs.c lists the rows in the order of
 * the help.
 *
 * Adding a command: write cmd-x.c with a `const struct verb cmd_x`, add it to the list in verbs.c
 * and to verbs.h and meson.build.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"

struct cli;

struct option {
	const char *name;    /* as typed: "--executor", "-C" */
	const char *value;   /* what its value is called ("ID"; "DIR" and "FILE" complete as
			      * such), or NULL: a flag */
	const char *help;    /* one sentence, lower case, without a full stop */
	const char *choices; /* words the value must be one of, separated by one blank, or NULL */
	bool repeat;         /* may be given several times */
};

enum {
	VERB_JSON = 1 << 0,     /* takes --json */
	VERB_DIR = 1 << 1,      /* takes -C */
	VERB_HOME = 1 << 2,     /* takes --home, and --config: who looks at runs takes back what is
				 * due, for which the engine is asked that the file names */
	VERB_CONFIG = 1 << 3,   /* takes --config */
	VERB_ARGV = 1 << 4,     /* words after -- are a command of the sandbox (cli.argv) */
	VERB_ANY_WORD = 1 << 5, /* a word with a dash that is no known option is an argument */
	VERB_RUN_EXIT = 1 << 6, /* failures exit as `cloop run` does, not with 1 (usage: 2) */
	VERB_HIDDEN = 1 << 7,   /* in no help, completion or man page */
	VERB_PROJECT = VERB_JSON | VERB_DIR | VERB_HOME | VERB_CONFIG,
};

#define VERB_MANY UINT_MAX

struct verb {
	const char *group; /* first of two words ("sandbox"), or NULL */
	const char *name;
	const char *summary; /* at most 56 bytes */
	const char *args;    /* shape of the arguments ("[PATH]"), or NULL */
	unsigned min_args;
	unsigned max_args;
	unsigned flags;
	const struct option *options; /* ended by a row without name; NULL: none of its own */
	/*
	 * Paragraphs, one per line of text; a line that begins with two blanks is shown as it is.
	 */
	const char *help;
	const char *exits; /* what its exit statuses mean, where those are not the usual ones */
	/* The command: its exit status, or -1 and err, which the frame prints. */
	int (*run)(struct cli *c, struct error *err);
};

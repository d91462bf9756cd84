/*
 * What a command gets, and how it answers. A command prints its result on stdout (human text, or
 * one JSON object when c->json), progress and diagnostics on stderr, and returns an exit status; a
 * failure it returns as -1 with the error filled, and the frame prints that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "cli/verb.h"

struct context;
struct home;

/* One option as given. */
struct cli_value {
	const struct option *option;
	const char *text; /* NULL for a flag */
};

struct cli {
	const struct verb *verb; /* NULL: only help was asked for, or nothing */
	const char *group;       /* of an incomplete command line (for help) */
	bool json;
	bool help;
	const char *dir;          /* -C as given; "." */
	struct cli_value *values; /* in the order given */
	size_t n_values;
	char **args; /* positional arguments; NULL-terminated */
	size_t n_args;
	char **argv; /* VERB_ARGV: the words after --, NULL-terminated; NULL: no -- was given */
	size_t n_argv;
	char *home;   /* cli_home() */
	char *config; /* cli_config() */
};

/* Exit statuses that do not come from an error. */
enum { CLI_OK = 0, CLI_REFUSED = 1, CLI_USAGE = 2 };

void cli_done(struct cli *c);

/* Was the flag given? The name must be in the command's table ("--detach"). */
bool cli_flag(const struct cli *c, const char *name);
/* Value of an option, NULL when absent. The name must be in the command's table. */
const char *cli_option(const struct cli *c, const char *name);
/*
 * The next value of a repeatable option: start with *at = 0; NULL at the end.
 */
const char *cli_option_next(const struct cli *c, const char *name, size_t *at);
/* Values of a type; absent gives the default; malformed is a usage error that names the option. */
must_check int cli_option_number(const struct cli *c, const char *name, uint64_t max,
	uint64_t absent, uint64_t *ret, struct error *err);
must_check int cli_option_duration_ms(
	const struct cli *c, const char *name, uint64_t absent, uint64_t *ret, struct error *err);

/* args[i], or NULL when there are fewer. */
const char *cli_arg(const struct cli *c, size_t i);

/*
 * cloop's home: --home, CLOOP_HOME, /var/lib/cloop for root, else $XDG_STATE_HOME/cloop
 * (~/.local/state/cloop). Absolute; owned by c. NULL + err when it cannot be determined.
 */
const char *cli_home(struct cli *c, struct error *err);
/*
 * The operator's config file: --config, CLOOP_CONFIG, /etc/cloop/config.yaml for root, else
 * $XDG_CONFIG_HOME/cloop/config.yaml. Absolute; owned by c. Whether it exists is not looked at.
 */
const char *cli_config(struct cli *c, struct error *err);
/*
 * The same, for a command that judges by it. A file that is not there means the defaults
 * (config.md); of one that was named this surprises, so it is warned of.
 */
const char *cli_policy(struct cli *c, struct error *err);
/*
 * A --home or --config that names nothing is a usage error of every command that takes it: it must
 * not mean the default. The frame asks before it runs one. (An empty variable is one not set.)
 */
must_check int cli_check_paths(const struct cli *c, struct error *err);
/* home_open() of cli_home(). */
must_check int cli_home_open(struct cli *c, struct home *ret, struct error *err);
/*
 * The same, then cli_revoke_due(): for commands about secrets, grants, leases, the audit trail, and
 * one run.
 */
must_check int cli_home_open_due(struct cli *c, struct home *ret, struct error *err);
/* context_open() of cli_home() and cli_config(). */
must_check int cli_context_open(struct cli *c, struct context *ret, struct error *err);
/* revoke_due() with cli_config(): for commands that touch runs. */
void cli_revoke_due(struct cli *c, const struct home *home);

/* Fills err as a usage error whose remedy names the help of the command. Returns -1. */
int cli_usage(const struct cli *c, struct error *err, const char *fmt, ...) printf_like(3, 4);

/*
 * Prints one JSON object and a line break on stdout, indented when stdout is a terminal; takes
 * the reference.
 */
void cli_print_json(json_t *answer);
/* Prints the error (`cloop: …` and `  fix: …` on stderr; with --json its envelope on stdout). */
void cli_print_error(const struct cli *c, const struct error *err);
/* The exit status of a command that failed with this error. */
int cli_error_exit(const struct cli *c, const struct error *err);

/*
 * Text of others (paths, titles, words) as it may go to a terminal: control characters as \xNN, so
 * that it neither breaks a table nor steers the terminal. Caller frees.
 */
must_check char *cli_plain(const char *text);
/* A value of a record on one line: a text as cli_plain() shows it, everything else as JSON. */
must_check char *cli_shown(const json_t *value);

/* Colour only on a terminal and without NO_COLOR. fd is 1 or 2. */
bool cli_color(int fd);

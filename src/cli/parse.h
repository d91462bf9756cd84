/*
 * The command line (cli.md): options `--name value` or `--name=value`, no abbreviations, before
 * or after the words of the command; `--` ends the options.
 */
#pragma once

#include "cli/cli.h"

/*
 * Fills *ret (empty before; cli_done() after, in any case), which borrows argv. On a usage error
 * (-1) verb, json and help are filled as far as they were understood. Values of options are only
 * checked against their choices.
 */
must_check int parse_command_line(int argc, char **argv, struct cli *ret, struct error *err);

/* The init without a shim, for runtimes that no socket of the host reaches (§9.2). */
#pragma once

/*
 * Runs argv at once on the own stdio, reaps, passes signals on to its process group. The exit
 * status: its code, 128 + n for a signal; 127, 126 or 125 and a line on stderr if it did not start.
 */
int standalone_main(char **argv);

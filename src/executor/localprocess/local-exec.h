/* The moment between a host process and its supervisor: `cloop-shim --local-exec WORD…`. */
#pragma once

enum { LOCAL_EXEC_SOCKET = 3, LOCAL_EXEC_LAUNCH = 4 };

/*
 * Dies with its parent from here on; waits on LOCAL_EXEC_SOCKET for one byte, then becomes `words`
 * with the environment of the launch block in LOCAL_EXEC_LAUNCH. The socket closes when that went
 * through; else a struct init_failure is sent first. Returns the exit status of a start that failed
 * or that nobody waits for any more.
 */
int local_exec(char *const words[]);

/*
 * Children of a process that is not ours to shape: libcloop lives in programs that ignore SIGCHLD,
 * or wait for any child there is, and either way an exit status is gone before it is asked for. So
 * what is started there is started by a keeper, a process of our own between the two: it waits,
 * and tells how the child ended through a socket. A detached child (struct spawn) is let go: its
 * keeper ends at once, so that it is nobody's child, and leaves no zombie.
 */
#pragma once

#include "sys/spawn.h"

/*
 * From now on every child of this process has a keeper: `program` (static; a path, or a name for
 * program_path()) with the word `--keep`; where there is no such program, children are our own.
 * Each is a session of its own, and the pid of a struct child that of its keeper, which leads that
 * session; of a detached one -1. NULL: no more keepers. Not while another thread starts a child.
 */
void spawn_keeper_use(const char *program);
bool spawn_keeper_used(void);
/* What the program does: words are those behind `--keep`. Its exit status. */
int spawn_keeper_main(char **words);

/* Which file a command's first word names (container-driver.md §23.2, step 3). */
#pragma once

#include "executor/container/init/init-message.h"

/*
 * Executes argv with envp: a word with `/` as it is, else from each directory of PATH of envp in
 * turn; no fallback to a shell. Comes back only on failure, which fills *f (step exec).
 */
void search_exec(char *const argv[], char *const envp[], struct init_failure *f);

/* The other programs of this installation: the supervisor and the sandbox's init. */
#pragma once

#include "base/cleanup.h"
#include "base/strv.h"

/*
 * Absolute path of program `name` ("cloop", "cloop-shim", "cloop-guest"): beside this program, in
 * ../libexec/cloop/ or ../../bin/ (so that an installed tree can be moved), in the build tree's
 * folder of it (../<part behind "cloop-">/, of cloop ../cli/), else in the libexec directory that
 * the build was configured with. The first that exists; caller frees. "Beside" is where this
 * program was started from, also after an upgrade has put another file there.
 */
must_check char *program_path(const char *name);
/*
 * From now on this folder (copied) stands for that of the running program, whatever that is and
 * wherever it lies; NULL: the libexec directory that the build was configured with. For a library
 * in other people's programs. Any thread.
 */
void program_set_folder(const char *folder);
/*
 * Appends what one of them gets of our environment: what finds its home, its sockets and other
 * programs. Nothing else of it, and no secret.
 */
void program_environment(struct strv *env);

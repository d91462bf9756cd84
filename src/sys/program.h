/* The other programs of this installation: the supervisor and the sandbox's init. */
#pragma once

#include "base/cleanup.h"

/*
 * Absolute path of program `name` ("cloop-shim", "cloop-guest"): beside this program, in the build
 * tree's folder of it (../<part behind "cloop-">/), else in the installed libexec directory. The
 * first that exists; caller frees.
 */
must_check char *program_path(const char *name);

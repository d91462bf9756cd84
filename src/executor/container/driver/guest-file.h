/*
 * GUEST: the sandbox's init on this host, <home>/guest/<16 hex of its SHA-256>/cloop-guest
 * (container-driver.md §2, §23.1). Made once per version, from the program of the installation.
 */
#pragma once

#include "executor/rundir/home.h"

/* Its path; caller frees. Makes no file. */
must_check char *guest_file_path(const char *home);
/*
 * Makes sure that it is there, as it should be, on a filesystem without noexec. guest_unusable
 * otherwise.
 */
must_check int guest_file_install(const char *home, struct error *err);
/*
 * Removes those of other versions that no run's container uses. One that cannot be read keeps them
 * all: the next one who looks may know more.
 */
void guest_file_reap(const struct home *h);

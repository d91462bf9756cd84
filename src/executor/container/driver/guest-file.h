/*
 * GUEST: the sandbox's init on this host, <home>/guest/<16 hex of its SHA-256>/cloop-guest
 * (container-driver.md §2, §23.1). Made once per version, from the program of the installation.
 */
#pragma once

#include "base/error.h"

/* Its path; caller frees. Makes no file. */
must_check char *guest_file_path(const char *home);
/*
 * Makes sure that it is there, as it should be, on a filesystem without noexec. guest_unusable
 * otherwise.
 */
must_check int guest_file_install(const char *home, struct error *err);

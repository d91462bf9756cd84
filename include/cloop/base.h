/*
 * libcloop: what its headers share. Programs include <cloop/container.h>.
 *
 * Conventions of the whole library (container-driver.md §22):
 *
 * Results: `int` functions answer 0 = done, -1 = failed, or a positive value = an expected outcome
 * that the function names. On -1 the last parameter, `struct cloop_error *err`, tells why; err may
 * be NULL for who does not want to know. Outputs are written on success only, unless the function
 * says otherwise.
 *
 * Memory: what the library allocates is released by the function that is named beside it (`…_free`,
 * `…_unref`); all of these accept NULL. What a caller passes is borrowed for the call. Lists of
 * texts end with NULL and are released by cloop_strings_free(). Text is UTF-8, or the bytes of a
 * path; NUL-terminated. Numbers carry their unit in the name; MB are 2^20 bytes.
 *
 * Structs: those that a caller fills have an init function, which must be called first, and
 * `reserved` members, which belong to the library. Those that the library fills are allocated by it
 * and may grow at the end.
 *
 * Threads: functions may be called from several threads at once, also on one container. Streams,
 * attach sessions, errors and structs that a caller fills belong to one thread at a time.
 *
 * Process: the library installs no signal handler, changes neither directory nor umask nor locale,
 * prints nothing, waits for no child but its own, and all its descriptors are close-on-exec. Its
 * supervisors (cloop-shim) are found where the library was configured to be installed,
 * <prefix>/libexec/cloop, or in the directory that CLOOP_LIBEXEC_DIR of the environment names;
 * which is looked at when the library is loaded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks of what the library exports, and of answers that must be looked at. */
#if defined(__GNUC__)
#define CLOOP_API __attribute__((visibility("default")))
#define CLOOP_MUST_CHECK __attribute__((warn_unused_result))
#else
#define CLOOP_API
#define CLOOP_MUST_CHECK
#endif

/*
 * Version of the library that is loaded, as "MAJOR.MINOR.PATCH"; static. Programs that were linked
 * with libcloop.so.0 work with every later libcloop.so.0. Any thread.
 */
CLOOP_API const char *cloop_version(void);

/* Releases a text that the library allocated; NULL is fine. Any thread. */
CLOOP_API void cloop_string_free(char *text);
/* Releases a NULL-terminated list and its texts; NULL is fine. Any thread. */
CLOOP_API void cloop_strings_free(char **list);

#ifdef __cplusplus
}
#endif

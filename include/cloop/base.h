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
 * NULL: `err` and `cancel` may be NULL everywhere. A text or a list of texts that is NULL is the
 * empty one, as an argument and in a struct. Every other pointer is needed, unless its function
 * says what NULL means: without it a function that can fail does nothing, writes nothing and fails
 * with `usage`, and others answer nothing: "", false, NULL, no entries, -1 for a descriptor or an
 * exit code; `…_free`, `…_unref`, `…_init` do nothing. In a struct, a list that has a count may be
 * NULL when the count is 0; else it is `usage`. Undefined is what no function can see: a pointer to
 * something else or to what was released, a list without its end, a struct that was not begun by
 * its init function.
 *
 * Threads: functions may be called from several threads at once, also on one container, registry,
 * cancel or egress policy. A stream, an attach session, an error and a struct that a caller fills
 * belong to one thread at a time; what the library filled does not change any more, and may be read
 * by all until it is released. What is released must be used by nobody: a container that a thread
 * uses is kept by a reference of that thread.
 *
 * Waiting: a function that gets a cancel may wait for an engine, an image's build or a supervisor;
 * without a cancel it waits as long as it says. Others that do not speak of waiting read and write
 * files of the home, and start a supervisor for a run that lost its own, without waiting for it.
 * The registry is locked while cloop_container_ensure() makes an executor.
 *
 * Signals: only cloop_cancel_trigger() may be called from a handler. Waits go on after a handler
 * ran; no call raises SIGPIPE.
 *
 * fork(): what a child releases are copies; that ends no run and removes no home. Beyond that, the
 * child of a program with several threads may only exec, as with any library that has locks; the
 * child of one with a single thread may call everything, but not go on with a stream or a session
 * of its parent.
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

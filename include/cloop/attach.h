/*
 * libcloop: a session of one's own inside a running sandbox (container-driver.md §18). It has the
 * workload's confinement and counts in its limits; its end never ends the run.
 * Seed: Executor.Attach, executor.AttachRequest, executor.AttachConn.
 */
#pragma once

#include <cloop/cancel.h>
#include <cloop/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begun by cloop_attach_request_init(). */
struct cloop_attach_request {
	const char *handle;
	const char *const *argv; /* at most 64 words; NULL = /bin/sh */
	bool tty;                /* on a terminal, else on pipes */
	bool write;              /* input is passed on; else the session only shows */
	uint16_t rows, columns;  /* of the terminal; 0 = 24 and 80 */
	const void *reserved[4];
};

/* Nothing given: a shell on pipes, without input. */
CLOOP_API void cloop_attach_request_init(struct cloop_attach_request *request);

/* One session; one thread at a time. */
struct cloop_attach;

/* Readable when cloop_attach_read() has something to do; the session's own. */
CLOOP_API int cloop_attach_fd(const struct cloop_attach *attach);
/*
 * Waits for output. 0: *size bytes (1 … capacity) are in buffer, *stream says which of the two
 * (with a terminal always CLOOP_LOG_STDOUT). 1: the session has ended. Errors: those that the
 * session met (command_not_found, attach_closed …), usage (no capacity), io, cancelled.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_attach_read(struct cloop_attach *attach,
	const struct cloop_cancel *cancel, void *buffer, size_t capacity, size_t *size,
	enum cloop_log_stream *stream, struct cloop_error *err);
/*
 * Passes all of it on; waits while the session does not take it. data may be NULL when size is 0.
 * Errors: attach_read_only,
 * attach_closed (it has ended), cancelled (how much was passed on is then not known).
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_attach_write(struct cloop_attach *attach,
	const struct cloop_cancel *cancel, const void *data, size_t size, struct cloop_error *err);
/* The end of the input (on a terminal: of nothing). Errors: as cloop_attach_write(). */
CLOOP_API CLOOP_MUST_CHECK int cloop_attach_close_input(
	struct cloop_attach *attach, const struct cloop_cancel *cancel, struct cloop_error *err);
/* A new size of the terminal, 1-1000 each; 0 is ignored. Errors: as cloop_attach_write(). */
CLOOP_API CLOOP_MUST_CHECK int cloop_attach_resize(struct cloop_attach *attach,
	const struct cloop_cancel *cancel, uint16_t rows, uint16_t columns,
	struct cloop_error *err);
/* Exit code of the session (128 + n after a signal) once it has ended; -1 = not known. */
CLOOP_API int cloop_attach_exit_code(const struct cloop_attach *attach);
/* Closes the session and ends what it started, which takes at most 10 s; the run goes on. */
CLOOP_API void cloop_attach_free(struct cloop_attach *attach);

#ifdef __cplusplus
}
#endif

/*
 * One end of an attach connection (container-driver.md §18.3): frames that came and are not used
 * yet, frames that are not sent yet. For the supervisor and for its client; nothing here blocks.
 * `in` holds one frame of any size at most. `out` has no maximum of its own: who adds to it looks
 * at attach_connection_waiting() first.
 */
#pragma once

#include <sys/types.h>

#include "base/json.h"
#include "executor/container/decisions/attach-frame.h"

struct attach_connection {
	int fd; /* -1: gone */
	struct str in, out;
	size_t taken, sent; /* bytes of `in` and `out` that are done with */
};
#define ATTACH_CONNECTION_INIT \
	((struct attach_connection){.fd = -1, \
		.in = STR_INIT(ATTACH_HEADER_SIZE + ATTACH_PAYLOAD_MAX), \
		.out = STR_INIT(SIZE_MAX / 2)})
void attach_connection_done(struct attach_connection *c);

/* Closes it; what came and what waits is forgotten. */
void attach_connection_close(struct attach_connection *c);
/* `in` takes more bytes: while it does not, reading would lose some. */
bool attach_connection_can_read(const struct attach_connection *c);
/* Reads what is there; false: the other end is gone. */
must_check bool attach_connection_read(struct attach_connection *c);
/* The first frame that came, not yet taken; a view until the next read. */
enum attach_state attach_connection_next(
	const struct attach_connection *c, struct attach_frame *ret);
/* Takes the frame that attach_connection_next() showed. */
void attach_connection_take(struct attach_connection *c);

/* Adds bytes in as many frames as they need; nothing once the other end is gone. */
void attach_connection_add(struct attach_connection *c, enum attach_type type, struct text bytes);
/* An object as one frame: ready, exit, error. */
void attach_connection_add_json(
	struct attach_connection *c, enum attach_type type, const json_t *object);
void attach_connection_add_size(struct attach_connection *c, uint16_t rows, uint16_t cols);
/* Bytes that wait to be sent. */
size_t attach_connection_waiting(const struct attach_connection *c);
/* Sends what the other end takes now: how many bytes, or -1: it is gone. */
must_check ssize_t attach_connection_flush(struct attach_connection *c);

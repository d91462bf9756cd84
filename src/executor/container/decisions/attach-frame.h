/* The frames of an attach session (container-driver.md §18.3), both directions. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/text.h"

enum { ATTACH_HEADER_SIZE = 5, ATTACH_PAYLOAD_MAX = 65536 };

enum attach_type {
	ATTACH_STDIN,
	ATTACH_RESIZE,
	ATTACH_EOF,
	ATTACH_CLOSE,
	ATTACH_READY,
	ATTACH_OUTPUT,
	ATTACH_STDERR,
	ATTACH_EXIT,
	ATTACH_ERROR,
	ATTACH_TYPE_COUNT
};
const char *attach_type_text(enum attach_type t);
int attach_type_from_text(struct text t);
/* The frame goes from the client to the shim. */
bool attach_type_to_shim(enum attach_type t);

struct attach_frame {
	enum attach_type type;
	uint16_t rows, cols; /* resize only */
	struct text data;    /* view; empty for resize */
};

enum attach_state {
	ATTACH_FRAME,   /* decode: *ret was filled */
	ATTACH_OK,      /* nothing left */
	ATTACH_MORE,    /* the rest is the beginning of a frame */
	ATTACH_INVALID, /* the rest begins with something that no frame is; close the session */
};
/* Takes one frame off *rest; for every other answer *rest stays as it is. */
enum attach_state attach_frame_decode(struct text *rest, struct attach_frame *ret);

/* Header of a frame with `length` (<= ATTACH_PAYLOAD_MAX) bytes behind it. */
void attach_frame_header(enum attach_type type, size_t length, char out[ATTACH_HEADER_SIZE]);
/* A whole frame; -1: out is at its maximum. For resize rows and cols are the payload. */
must_check int attach_frame_encode(const struct attach_frame *f, struct str *out);

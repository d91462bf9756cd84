/*
 * Heads as they are passed on (network.md §13.2, §13.5): written anew from what was read, never
 * copied. Pure.
 */
#pragma once

#include "egress/http-head.h"

enum { FORWARD_HEAD_MAX = HTTP_HEAD_MAX + 1024 };

/* `close`: the origin is told that no further request follows. */
void forward_request(const struct http_request *r, bool close, struct str *out);

struct forward_answer {
	struct text line; /* raw begins with it */
	unsigned minor;   /* HTTP/1.minor of the client: 0 is not sent chunks */
	bool close;       /* of the client's connection, after this answer */
	const char *verdict;
};
/* An answer of the origin; an interim one (1xx) has no length. */
void forward_response(
	const struct http_response *r, const struct forward_answer *how, struct str *out);

/* The line of an answer within its bytes, without CRLF. */
struct text forward_line(struct text raw);

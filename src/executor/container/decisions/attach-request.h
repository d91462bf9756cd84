/*
 * What a client asks for with `attach` on the control socket (container-driver.md §18.1, §18.4),
 * both ends of it. Pure.
 */
#pragma once

#include <stdint.h>

#include "base/json.h"

enum {
	ATTACH_WORDS_MAX = 64,
	ATTACH_WORDS_BYTES_MAX = 4064, /* with a NUL each */
	ATTACH_SIDE_MAX = 1000,        /* rows or columns of a terminal */
	ATTACH_ROWS = 24,              /* where the client does not know */
	ATTACH_COLUMNS = 80,
};
#define ATTACH_SHELL "/bin/sh"

/* As the client knows it. */
struct attach_wish {
	char *const *argv; /* NULL-terminated; NULL or empty: ATTACH_SHELL */
	bool tty, write;
	uint16_t rows, cols; /* 0: unknown */
};
/* The request; argv_empty, argv_invalid (also for words that are no UTF-8), argv_too_large. */
must_check int attach_request_make(const struct attach_wish *wish, json_t **ret, struct error *err);

/* As the supervisor takes it. */
struct attach_request {
	bool tty, write;
	uint16_t rows, cols; /* with tty 1-ATTACH_SIDE_MAX, else 0 */
	uint8_t argc;        /* 1-ATTACH_WORDS_MAX */
	uint16_t argv_len;
	char argv[ATTACH_WORDS_BYTES_MAX]; /* argc words, each with its NUL; the first not empty */
};
/* Errors as above. A member that is missing or of another type has its default. */
must_check int attach_request_read(
	const json_t *request, struct attach_request *ret, struct error *err);

/* One side of a terminal: 0 leaves `now`, more than ATTACH_SIDE_MAX is that. */
uint16_t attach_request_side(int64_t asked, uint16_t now);

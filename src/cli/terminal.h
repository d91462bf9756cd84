/* The terminal that a command was started at. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <termios.h>

struct terminal {
	int fd; /* -1: as it was */
	struct termios before;
};
#define TERMINAL_INIT ((struct terminal){.fd = -1})

/*
 * Every byte that is typed comes as it is, and every byte that is written goes out as it is; with
 * `keep_signals` keys still make SIGINT and SIGQUIT (nothing else is shown or acted upon).
 * Something that is no terminal stays as it is.
 */
void terminal_raw(struct terminal *t, int fd, bool keep_signals);
/* As it was before; what was typed and not read is forgotten. Any number of times. */
void terminal_restore(struct terminal *t);
/* 0 each where the size is not known. */
void terminal_size(int fd, uint16_t *ret_rows, uint16_t *ret_columns);

/* Pipes whose other end is somebody else's. */
#pragma once

#include <stddef.h>

/*
 * Bytes that are in the pipe now; 0 also where that cannot be known. Whoever reads these and no
 * more comes to an end: reading until there is nothing does not, while others write.
 */
size_t pipe_waiting(int fd);
/* One read of at most size of the *left that are still to be read; how many, 0 = that was all. */
size_t pipe_read(int fd, void *buffer, size_t size, size_t *left);

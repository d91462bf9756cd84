/*
 * The file of --record. Its folder is opened before the run, so that a path that cannot be written
 * refuses the run; and what is in the file's place at the end is replaced, never followed: the path
 * often lies in the workspace, where the workload may have put a link to a file of the host. A FIFO
 * or a device is written to as it was judged, whatever has its name by then.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

struct record_file {
	int folder;
	int stream; /* what is no file (a pipe, /dev/stdout): opened at once; -1 = a file */
	char *name;
};
#define RECORD_FILE_INIT ((struct record_file){.folder = -1, .stream = -1})
void record_file_done(struct record_file *f);
/* path: a file that may or may not exist, a FIFO that is being read, a device, /dev/stdout. io. */
must_check int record_file_open(const char *path, struct record_file *ret, struct error *err);
/* Replaces the file atomically (0666 less the umask), or writes to the stream. io. */
must_check int record_file_write(const struct record_file *f, struct text bytes, struct error *err);

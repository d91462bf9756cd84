/*
 * Passes a run's output on to our own stdout and stderr. A reader that stops must not make us deaf:
 * while a pipe or terminal takes nothing, signals are still looked after, and segments of the log
 * are kept that would be deleted meanwhile. Whoever reads no more loses nothing but this copy, the
 * log has it all.
 */
#pragma once

#include <stdbool.h>

#include "base/text.h"

struct log_reader;

struct pass_on {
	int signals;               /* signalfd that is watched while waiting; -1 = none */
	void (*on_signal)(void *); /* called when it is readable */
	void *data;
	struct log_reader *reader; /* of the log that the output comes from; NULL = none */
	bool enough;               /* set by on_signal: nothing is written any more */
	bool gone[3];              /* by descriptor: nothing can be written there any more */
	struct pass_on_target {
		bool known;
		size_t most; /* bytes of one write that do not block */
		int own;     /* unblocked_open(); 0 = none */
		bool pipe;   /* own is a pipe that takes pages of a file as they are */
	} to[3];
};
void pass_on_done(struct pass_on *p);
/* fd: 1 or 2. A closed pipe is silent; any other failure is told on stderr, once. */
void pass_on_write(struct pass_on *p, int fd, struct text bytes);
/*
 * The same for the payload of the frame that p->reader has just given: a pipe gets the pages of the
 * log's file, uncopied.
 */
void pass_on_frame(struct pass_on *p, int fd, struct text payload);

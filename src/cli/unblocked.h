/*
 * Writing to who may not read. Our stdout and stderr are descriptions that others have too, so
 * they are never switched to O_NONBLOCK: a pipe or terminal is opened anew for it.
 */
#pragma once

#include "base/text.h"

/*
 * The pipe or terminal behind fd, for writing, O_NONBLOCK and CLOEXEC; -1: it is something else, or
 * cannot be opened by us (then a pipe takes PIPE_BUF bytes when poll() says that it is ready, and a
 * terminal any number that it likes).
 */
must_check int unblocked_open(int fd);

/* Shows text for as long as it is read. */
struct unblocked {
	int fd;
	bool looked;
	int own;    /* fd opened anew; -1 = none */
	bool never; /* it can block whatever we do: nothing is shown */
	bool stuck; /* the last text did not get through */
};
#define UNBLOCKED_INIT(number) ((struct unblocked){.fd = (number), .own = -1})
void unblocked_done(struct unblocked *u);
/*
 * t: at most PIPE_BUF bytes. A reader that stops is waited for once, 200 ms; from then on what it
 * does not take at once is dropped, until it has taken all of a text again.
 */
void unblocked_write(struct unblocked *u, struct text t);

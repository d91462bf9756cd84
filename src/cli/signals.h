/* The end that an operator asks for, as a descriptor, so that what was begun is undone first. */
#pragma once

#include "base/error.h"

/*
 * Interrupt, terminate and hang-up become readable at the descriptor (signalfd, not blocking; the
 * caller closes it) instead of ending the process; a pipe that nobody reads ends it no more. Once
 * per process. -1: io.
 */
must_check int signals_catch(struct error *err);

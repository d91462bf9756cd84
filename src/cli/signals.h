/* The end that an operator asks for, as a descriptor, so that what was begun is undone first. */
#pragma once

#include "base/error.h"

/*
 * Interrupt, terminate and every other signal that would end the process, but SIGKILL and those of
 * its own faults, become readable at the descriptor (signalfd, not blocking; the caller closes it)
 * instead; a pipe that nobody reads or a file that grows too large ends it no more. Once per
 * process. -1: io.
 */
must_check int signals_catch(struct error *err);

/*
 * The null driver, for tests: advertises given capabilities, starts nothing. A start is refused
 * with executor_unsupported after everything that can be decided was decided.
 */
#pragma once

#include "executor/executor.h"

/* Takes over *capabilities (as read by candidate_from_json()); its id becomes the executor's. */
must_check struct executor *null_executor_new(struct candidate *capabilities);

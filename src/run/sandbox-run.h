/*
 * .cloop/sandbox-run.json: what the host knows of a run, for the one who works inside and writes
 * about it (sandbox-yaml "Reproducibility"). It is written before the workload begins and never
 * read by cloop: the workload can write it.
 */
#pragma once

#include "executor/rundir/home.h"

/*
 * Of a run that has its first record with the image. A project without .cloop gets no file. A
 * failure is a warning.
 */
void sandbox_run_write(const struct home *home, const char *handle);

/*
 * One process of cosign, as an image's registry may make it behave (image-trust.md §8.2): in a
 * process group of its own, with one pipe of which 64 KiB are kept, until a deadline.
 */
#pragma once

#include <stdint.h>

#include "base/strv.h"
#include "sys/spawn.h"

enum { COSIGN_OUTPUT_MAX = 64 << 10 };

enum cosign_end {
	COSIGN_SUCCEEDED, /* exit status 0; nothing else counts */
	COSIGN_FAILED,    /* another status, a signal, or it could not be executed */
	COSIGN_TIMED_OUT,
	COSIGN_CANCELLED,
};

struct cosign_process {
	const char *program; /* absolute */
	const struct strv *env;
	int64_t deadline_ms; /* boottime */
	int cancel_fd;       /* readable = give up; -1 = none */
};

/*
 * Runs it with these words; what it wrote is added to *output (a STR_INIT(COSIGN_OUTPUT_MAX)). When
 * the call returns, no process of its group lives and the pipe is closed, whoever still holds it.
 * -1: io.
 */
must_check int cosign_process_run(const struct cosign_process *p, const struct strv *argv,
	enum cosign_end *ret, struct str *output, struct error *err);

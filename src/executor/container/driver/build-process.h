/*
 * The engine's client while it builds an image (image-trust.md §11.4): started, listened to, and
 * stopped so that nothing of it stays.
 */
#pragma once

#include "executor/container/driver/build-output.h"
#include "executor/container/driver/client.h"

struct build_process {
	const struct runtime *runtime;
	const struct strv *argv;
	const struct strv *env;
	struct text dockerfile; /* its stdin */
	int64_t deadline_ms;    /* boottime */
	int cancel_fd;          /* -1 = none */
	struct build_output *output;
};

enum build_end { BUILD_ENDED, BUILD_TOO_LATE, BUILD_CANCELLED };

struct build_outcome {
	enum build_end end;
	int status;  /* raw wait status of the client */
	bool forced; /* it had to be killed, so it may have left a container */
};
/*
 * Returns when no process of the build is left. This process is a child subreaper meanwhile, and
 * what comes to it then is taken for the build's: it starts nothing else at the same time. *ret is
 * also filled when a build that was started fails with -1. Errors: io.
 */
must_check int build_process_run(
	const struct build_process *b, struct build_outcome *ret, struct error *err);

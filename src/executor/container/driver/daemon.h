/*
 * docker's daemon has to leave users as they are (container-driver.md §4.1): with a map of users
 * the project's uid would be another one outside.
 */
#pragma once

#include "base/strv.h"
#include "executor/container/runtime.h"

struct daemon_question {
	const struct runtime *runtime;
	const struct strv *env; /* client_environment() */
	const char *home; /* cloop's, where a good answer is kept while the daemon is the same;
			     NULL: nothing is kept */
	int cancel_fd;    /* as in client_run() */
};
/* Nothing to ask of podman. Errors: docker_userns, and those of the call (§10.4). */
must_check int daemon_pass(const struct daemon_question *q, struct error *err);

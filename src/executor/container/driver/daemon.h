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
/*
 * Asks now, podman only whether it answers. Errors: docker_userns, and those of the call (§10.4).
 */
must_check int daemon_ask(const struct daemon_question *q, struct error *err);
/* The same before a start, where nothing is asked of podman, and of docker not what is known. */
must_check int daemon_pass(const struct daemon_question *q, struct error *err);

/*
 * Calls of the engine's client that wait for the answer: before a run has a supervisor, and for
 * commands about the engine itself (container-driver.md §4.3, §4.4).
 */
#pragma once

#include "base/strv.h"
#include "executor/container/runtime.h"
#include "sys/spawn.h"

struct client_call {
	const struct runtime *runtime;
	const struct strv *env;  /* client_environment() */
	const char *const *args; /* behind the engine's name, NULL-terminated */
	int64_t timeout_ms;
	size_t stdout_max;
	int cancel_fd; /* of a start: readable = give up; -1 = none */
};

/*
 * Built, never inherited: appended to *ret. home: cloop's (docker gets an empty configuration
 * directory below it, made here).
 */
must_check int client_environment(
	const struct runtime *runtime, const char *home, struct strv *ret, struct error *err);
/*
 * 0: it ended with exit status 0; 1: with another one (the words are in *ret); -1: engine_timeout,
 * start_cancelled, cancelled (cancel.h), io. *ret is the caller's in every case but -1.
 */
must_check int client_run(const struct client_call *call, struct captured *ret, struct error *err);
/* The same, where another exit status is an error, too, the one of client_explain(): 0 or -1. */
must_check int client_ask(const struct client_call *call, struct captured *ret, struct error *err);
/* The error of §10.4 for an answer that client_run() gave with 1; always -1. */
int client_explain(const struct client_call *call, const struct captured *answer, const char *image,
	struct error *err);

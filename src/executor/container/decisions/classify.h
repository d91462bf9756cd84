/* How a run ended, from what the kernel, the engine and we ourselves know (§13.2). Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum run_state {
	RUN_PENDING,
	RUN_RUNNING,
	RUN_EXITED,
	RUN_KILLED,
	RUN_FAILED,
	RUN_UNKNOWN,
	RUN_STATE_COUNT
};
const char *run_state_text(enum run_state s);
int run_state_from_text(struct text t);

enum run_outcome {
	OUTCOME_OK,
	OUTCOME_NONZERO,
	OUTCOME_SIGNAL,
	OUTCOME_TIMEOUT,
	OUTCOME_OOM,
	OUTCOME_DISK_LIMIT,
	OUTCOME_REVOKED,
	OUTCOME_CANCELLED,
	OUTCOME_LOST,
	OUTCOME_START_FAILED,
	RUN_OUTCOME_COUNT
};
const char *run_outcome_text(enum run_outcome o);
int run_outcome_from_text(struct text t);

/* Why we asked for the end of a run. */
enum stop_why {
	STOP_NONE, /* nobody asked */
	STOP_TIMEOUT,
	STOP_DISK_LIMIT,
	STOP_REVOKED,
	STOP_CANCELLED,
	STOP_WHY_COUNT
};
const char *stop_why_text(enum stop_why w);
int stop_why_from_text(struct text t);

struct classify_input {
	int64_t wait_status; /* raw, from the init; -1 = none came */
	bool engine_knows;
	bool started;
	enum error_code start_error;
	int64_t exit_code; /* the engine's; outside 0-255 = unknown */
	bool confirmed;    /* `started` or a record `running` was seen */
	int64_t oom_kills;
	enum stop_why request;
	bool delivered;      /* the request's signal reached a live sandbox */
	bool interrupt_sent; /* by a user, and delivered */
	bool terminate_sent;
};
/* The defaults of §13.2: nothing is known but that it was started and confirmed. */
#define CLASSIFY_INPUT_INIT \
	((struct classify_input){.wait_status = -1, \
		.engine_knows = true, \
		.started = true, \
		.exit_code = -1, \
		.confirmed = true})

struct classify_result {
	enum run_state state;
	enum run_outcome outcome;
	int exit_code;         /* -1 = null in the record */
	int signal;            /* 0 = null */
	bool warning_oom_kill; /* the record's warning `oom_kill` */
	int cli_exit;          /* exit status of `cloop run` */
};
struct classify_result classify(const struct classify_input *in);

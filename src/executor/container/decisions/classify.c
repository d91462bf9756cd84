#include "executor/container/decisions/classify.h"

#include <signal.h>

#include "base/enum-text.h"

static const char *const state_names[] = {
	[RUN_PENDING] = "pending",
	[RUN_RUNNING] = "running",
	[RUN_EXITED] = "exited",
	[RUN_KILLED] = "killed",
	[RUN_FAILED] = "failed",
	[RUN_UNKNOWN] = "unknown",
};
ENUM_TEXT(run_state, state_names, RUN_STATE_COUNT)

static const char *const outcome_names[] = {
	[OUTCOME_OK] = "ok",
	[OUTCOME_NONZERO] = "nonzero",
	[OUTCOME_SIGNAL] = "signal",
	[OUTCOME_TIMEOUT] = "timeout",
	[OUTCOME_OOM] = "oom",
	[OUTCOME_DISK_LIMIT] = "disk_limit",
	[OUTCOME_REVOKED] = "revoked",
	[OUTCOME_CANCELLED] = "cancelled",
	[OUTCOME_LOST] = "lost",
	[OUTCOME_START_FAILED] = "start_failed",
};
ENUM_TEXT(run_outcome, outcome_names, RUN_OUTCOME_COUNT)

static const char *const why_names[] = {
	[STOP_NONE] = "none",
	[STOP_TIMEOUT] = "timeout",
	[STOP_DISK_LIMIT] = "disk_limit",
	[STOP_REVOKED] = "revoked",
	[STOP_CANCELLED] = "cancelled",
};
ENUM_TEXT(stop_why, why_names, STOP_WHY_COUNT)

/* Exit statuses of `cloop run`. */
enum {
	CLI_DISK_LIMIT = 122,
	CLI_REVOKED = 123,
	CLI_TIMEOUT = 124,
	CLI_FAILED = 125,
	CLI_NOT_EXECUTABLE = 126,
	CLI_NOT_FOUND = 127,
	CODE_INTERRUPTED = 130,
	CODE_TERMINATED = 143,
	CODE_NONE = -1,
};

/* What the workload's end looked like. */
struct ending {
	bool exact; /* by a wait status */
	int code;   /* 0-255, or CODE_NONE */
	int death;  /* the signal, or 0 */
};

/* 128 + n of these is an exit code of the workload's own: the signals end nothing, or are libc's.
 */
static bool signal_never_kills(int64_t n)
{
	return (n >= SIGCHLD && n <= SIGURG) || n == SIGWINCH || n == 32 || n == 33;
}

static bool ending_of_wait_status(int64_t status, struct ending *ret)
{
	if (status < 0 || status > 0xffff)
		return false;
	int low = (int)(status & 0xff), high = (int)(status >> 8), signal = low & 0x7f;
	if (low == 0) {
		*ret = (struct ending){.exact = true, .code = high};
		return true;
	}
	if (high != 0 || signal < 1 || signal > 126)
		return false;
	*ret = (struct ending){.exact = true, .code = 128 + signal, .death = signal};
	return true;
}

static struct ending ending_of(const struct classify_input *in)
{
	struct ending e = {.code = CODE_NONE};

	if (ending_of_wait_status(in->wait_status, &e) || in->exit_code < 0 || in->exit_code > 255)
		return e;
	e.code = (int)in->exit_code;
	if (e.code > 128 && e.code <= 192 && !signal_never_kills(e.code - 128))
		e.death = e.code - 128;
	return e;
}

/* The request named the outcome (row 1). */
static bool request_decides(const struct classify_input *in, struct ending e)
{
	if (in->request == STOP_NONE || !in->delivered)
		return false;
	return in->request != STOP_DISK_LIMIT || (e.death == SIGKILL && in->oom_kills <= 0);
}

static struct classify_result requested(enum stop_why why, struct ending e)
{
	struct classify_result r = {.state = RUN_KILLED, .exit_code = e.code};

	switch (why) {
	case STOP_TIMEOUT:
		r.outcome = OUTCOME_TIMEOUT;
		r.cli_exit = CLI_TIMEOUT;
		break;
	case STOP_DISK_LIMIT:
		r.outcome = OUTCOME_DISK_LIMIT;
		r.cli_exit = CLI_DISK_LIMIT;
		break;
	case STOP_REVOKED:
		r.outcome = OUTCOME_REVOKED;
		r.cli_exit = CLI_REVOKED;
		break;
	default:
		r.outcome = OUTCOME_CANCELLED;
		r.cli_exit = e.code > 0 ? e.code : CODE_TERMINATED;
		break;
	}
	return r;
}

static struct classify_result failed(enum run_outcome outcome, int cli_exit)
{
	return (struct classify_result){.state = RUN_FAILED,
		.outcome = outcome,
		.exit_code = CODE_NONE,
		.cli_exit = cli_exit};
}

static int start_failed_exit(enum error_code code)
{
	if (code == ERROR_COMMAND_NOT_FOUND)
		return CLI_NOT_FOUND;
	return code == ERROR_COMMAND_NOT_EXECUTABLE ? CLI_NOT_EXECUTABLE : CLI_FAILED;
}

/* The code may be the init's own word for "I could not". */
static bool code_doubtful(const struct classify_input *in, struct ending e)
{
	return e.code == CODE_NONE ||
	       (!e.exact && !in->confirmed && e.code >= 125 && e.code <= 127);
}

/* Rows 5-9: the workload ran and its code is known. */
static struct classify_result ended(const struct classify_input *in, struct ending e)
{
	struct classify_result r = {.state = RUN_KILLED, .exit_code = e.code, .cli_exit = e.code};

	if ((e.code == CODE_INTERRUPTED && in->interrupt_sent) ||
		(e.code == CODE_TERMINATED && in->terminate_sent)) {
		r.outcome = OUTCOME_CANCELLED;
	} else if (e.code == 0) {
		r.state = RUN_EXITED;
		r.outcome = OUTCOME_OK;
	} else if (in->oom_kills > 0) {
		r.outcome = OUTCOME_OOM;
	} else if (e.death != 0) {
		r.outcome = OUTCOME_SIGNAL;
	} else {
		r.state = RUN_EXITED;
		r.outcome = OUTCOME_NONZERO;
	}
	return r;
}

static struct classify_result first_match(const struct classify_input *in, struct ending e)
{
	if (request_decides(in, e))
		return requested(in->request, e);
	if (!in->engine_knows && !e.exact)
		return failed(OUTCOME_LOST, CLI_FAILED);
	if (!in->started)
		return failed(OUTCOME_START_FAILED, start_failed_exit(in->start_error));
	if (code_doubtful(in, e))
		return failed(OUTCOME_LOST, CLI_FAILED);
	return ended(in, e);
}

struct classify_result classify(const struct classify_input *in)
{
	struct ending e = ending_of(in);
	struct classify_result r = first_match(in, e);

	r.signal = r.state == RUN_KILLED ? e.death : 0;
	r.warning_oom_kill = in->oom_kills > 0 && r.outcome != OUTCOME_OOM;
	return r;
}

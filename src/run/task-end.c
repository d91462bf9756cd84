#include "run/task-end.h"

#include <assert.h>

#include "base/mem.h"

static const struct ending {
	enum store_task_state state;
	const char *note;
} endings[] = {
	[OUTCOME_OK] = {STORE_TASK_DONE, NULL},
	[OUTCOME_NONZERO] = {STORE_TASK_FAILED, "it ended with a status of its own"},
	[OUTCOME_SIGNAL] = {STORE_TASK_FAILED, "it was ended by a signal"},
	[OUTCOME_TIMEOUT] = {STORE_TASK_FAILED, "it ran out of time"},
	[OUTCOME_OOM] = {STORE_TASK_FAILED, "it ran out of memory"},
	[OUTCOME_DISK_LIMIT] = {STORE_TASK_PENDING, "stopped at its disk limit"},
	[OUTCOME_REVOKED] = {STORE_TASK_FAILED, "a credential that it held was revoked"},
	[OUTCOME_CANCELLED] = {STORE_TASK_FAILED, "it was stopped on request"},
	[OUTCOME_LOST] = {STORE_TASK_FAILED, "its run was lost; how far it came is not known"},
	[OUTCOME_START_FAILED] = {STORE_TASK_PENDING, "it did not start"},
};
static_assert(ARRAY_SIZE(endings) == RUN_OUTCOME_COUNT, "an ending for every outcome");

void task_end_done(struct task_end *e)
{
	free(e->note);
}

/* The task's own command is at fault, and would be at every further start. */
static bool command_unusable(const struct store_run *r)
{
	return text_is(r->code, error_code_text(ERROR_COMMAND_NOT_FOUND)) ||
	       text_is(r->code, error_code_text(ERROR_COMMAND_NOT_EXECUTABLE));
}

static char *note_of(const struct final_record *f, const char *words)
{
	const struct store_run *r = &f->row;

	if (f->outcome == OUTCOME_NONZERO && r->exit_code >= 0)
		return mem_printf("it ended with status %d", (int)r->exit_code);
	if (f->outcome == OUTCOME_SIGNAL && r->signal > 0)
		return mem_printf("it was ended by signal %d", (int)r->signal);
	if (f->outcome == OUTCOME_DISK_LIMIT && r->disk_used_mb >= 0 && r->disk_limit_mb > 0)
		return mem_printf("%s: the workspace held %lld MB, %lld MB are allowed; free space "
				  "in it or raise the limit",
			words, (long long)r->disk_used_mb, (long long)r->disk_limit_mb);
	if (!words || !r->error.p)
		return words ? mem_strdup(words) : NULL;
	return mem_printf("%s: %.*s", words, (int)r->error.len, r->error.p);
}

void task_end_judge(const struct final_record *f, struct task_end *ret)
{
	const struct ending *e = &endings[f->outcome];

	*ret = (struct task_end){e->state, note_of(f, e->note)};
	if (f->outcome == OUTCOME_START_FAILED && command_unusable(&f->row))
		ret->state = STORE_TASK_FAILED;
	if (text_is(f->row.code, error_code_text(ERROR_DISK_LOW)))
		ret->state = STORE_TASK_PENDING;
}

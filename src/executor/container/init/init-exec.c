#include "executor/container/init/init-exec.h"

#include <errno.h>

enum init_exec_verdict init_exec_judge(const struct init_failure *f)
{
	if (f->step != INIT_STEP_EXEC)
		return INIT_VERDICT_EXEC_FAILED;
	switch (f->error) {
	case ENOENT:
	case ENOTDIR:
	case ENAMETOOLONG:
		return f->found ? INIT_VERDICT_NOT_EXECUTABLE : INIT_VERDICT_NOT_FOUND;
	case EPERM:
	case ENOEXEC:
	case EACCES:
	case EISDIR:
	case EINVAL:
	case ETXTBSY:
	case ELOOP:
	case ELIBBAD:
		return INIT_VERDICT_NOT_EXECUTABLE;
	default:
		return INIT_VERDICT_EXEC_FAILED;
	}
}

const char *init_exec_code(enum init_exec_verdict v)
{
	switch (v) {
	case INIT_VERDICT_NOT_FOUND:
		return "command_not_found";
	case INIT_VERDICT_NOT_EXECUTABLE:
		return "command_not_executable";
	case INIT_VERDICT_EXEC_FAILED:
		break;
	}
	return "exec_failed";
}

int init_exec_exit_status(enum init_exec_verdict v)
{
	switch (v) {
	case INIT_VERDICT_NOT_FOUND:
		return 127;
	case INIT_VERDICT_NOT_EXECUTABLE:
		return 126;
	case INIT_VERDICT_EXEC_FAILED:
		break;
	}
	return 125;
}

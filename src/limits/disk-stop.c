#include "limits/disk-stop.h"

#include "base/enum-text.h"

enum { EXIT_SIGKILL = 137 };

static const char *const names[] = {
	[DISK_SEEN_UNKNOWN] = "unknown",
	[DISK_SEEN_RUNNING] = "running",
	[DISK_SEEN_NOT_RUNNING] = "not_running",
};
ENUM_TEXT(disk_seen, names, DISK_SEEN_COUNT)

bool disk_stop_credit(const struct disk_end *end)
{
	return end->breach && end->exit == EXIT_SIGKILL && end->killed && !end->oom &&
	       !end->other_kill;
}

struct disk_kill disk_stop_judge(bool kill_done, enum disk_seen seen)
{
	bool stopped = kill_done || seen == DISK_SEEN_NOT_RUNNING;

	return (struct disk_kill){
		.stopped = stopped,
		.breach_kept = stopped || seen != DISK_SEEN_RUNNING,
		.retry = !stopped,
	};
}

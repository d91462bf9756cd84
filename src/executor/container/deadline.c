#include "executor/container/deadline.h"

enum deadline_state deadline_judge(const struct deadline *d, struct text boot_id_now,
	int64_t now_boottime_ms, int64_t *ret_wait_ms)
{
	if (d->boottime_ms == 0)
		return DEADLINE_NONE;
	if (!text_equal(d->boot_id, boot_id_now))
		return DEADLINE_REBOOTED;
	if (d->boottime_ms <= now_boottime_ms)
		return DEADLINE_FIRE;
	*ret_wait_ms = d->boottime_ms - now_boottime_ms;
	return DEADLINE_WAIT;
}

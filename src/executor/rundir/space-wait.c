#include "executor/rundir/space-wait.h"

#include <poll.h>

#include "executor/rundir/space.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/log.h"

enum { QUICK_MS = 200 };

static void pass_on(void *data, bool low, const char *text)
{
	const struct space_wait *w = data;

	if (w->start->space)
		w->start->space(w->start->space_data, w->run->handle, low, text);
}

static void put_on_record(const struct space_wait *w, bool waits)
{
	auto_error struct error err = ERROR_INIT;

	if (waits)
		json_object_set_new(w->record, "reason", json_string("disk_low"));
	else
		json_object_del(w->record, "reason");
	if (rundir_write(w->run, RECORD_FILE, w->record, false, &err) < 0)
		log_warning("%s", err.message);
}

/* False: the start was cancelled. */
static bool sleep_for(int64_t ms, int cancel_fd)
{
	struct pollfd p = {.fd = cancel_fd, .events = POLLIN};
	int64_t until = clock_boottime_ms() + ms;

	for (int64_t left = ms; left > 0; left = until - clock_boottime_ms())
		if (poll(&p, 1, (int)left) > 0)
			return false;
	return true;
}

int space_wait(struct space_wait *w, struct error *err)
{
	const struct space_place places[] = {
		{w->project, "the workspace", w->path},
		{w->home->fd, "cloop's home", w->home->path},
	};
	AUTO(space) space = SPACE_INIT;
	int64_t every = SPACE_AGAIN_MS;

	space_open(&space, w->start->min_free_mb, places, ARRAY_SIZE(places));
	space_look(&space, pass_on, w);
	if (!space_low(&space))
		return 0;
	put_on_record(w, true);
	if (fault_hit("space:quick"))
		every = QUICK_MS;
	while (space_low(&space)) {
		if (!sleep_for(every, w->start->cancel_fd))
			return error_set(err, ERROR_START_CANCELLED, "the start was cancelled");
		space_look(&space, pass_on, w);
	}
	put_on_record(w, false);
	return 1;
}

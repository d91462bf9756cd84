#include "executor/rundir/space-wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "executor/rundir/space.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/log.h"

enum { QUICK_MS = 200, LISTEN_MS = 1000 };

#define CANCEL_FILE "cancel"

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
		json_object_set_new(
			w->record, "reason", json_string(error_code_text(ERROR_DISK_LOW)));
	else
		json_object_del(w->record, "reason");
	if (rundir_write(w->run, RECORD_FILE, w->record, false, &err) < 0)
		log_warning("%s", err.message);
}

static bool is_cancelled(const struct space_wait *w)
{
	return faccessat(w->run->fd, CANCEL_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* False: the start was cancelled. */
static bool sleep_for(const struct space_wait *w, int64_t ms)
{
	struct pollfd p = {.fd = w->start->cancel_fd, .events = POLLIN};
	int64_t until = clock_boottime_ms() + ms;

	for (int64_t left = ms; left > 0; left = until - clock_boottime_ms())
		if (poll(&p, 1, (int)(left < LISTEN_MS ? left : LISTEN_MS)) > 0 || is_cancelled(w))
			return false;
	return true;
}

bool space_wait_goes_on(const struct rundir *run)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *record = rundir_read(run, RECORD_FILE, &err);

	return record && strcmp(record_state(record), "pending") == 0 &&
	       text_is(json_get_text(record, "reason"), error_code_text(ERROR_DISK_LOW));
}

int space_wait_cancel(const struct rundir *run, struct error *err)
{
	auto_fd int fd = openat(run->fd, CANCEL_FILE,
		O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	if (fd < 0)
		return error_set_errno(err, ERROR_HOME_UNUSABLE, errno,
			"asking run %s to wait no more", run->handle);
	return 0;
}

int space_wait(struct space_wait *w, struct error *err)
{
	AUTO(space) space = SPACE_INIT;
	int64_t every = SPACE_AGAIN_MS;

	space_open_run(&space, w->start->min_free_mb, w->project, w->path, w->home);
	space_look(&space, pass_on, w);
	if (!space_low(&space))
		return 0;
	put_on_record(w, true);
	if (fault_hit("space:quick"))
		every = QUICK_MS;
	while (space_low(&space)) {
		if (!sleep_for(w, every))
			return error_set(err, ERROR_START_CANCELLED, "the start was cancelled");
		space_look(&space, pass_on, w);
	}
	put_on_record(w, false);
	return 1;
}

/*
 * cloop-shim: the supervisor of one run. Started by cloop, never by hand.
 *     cloop-shim --home DIR --start HANDLE     lock on descriptor 3, dispatcher on descriptor 4
 *     cloop-shim --home DIR --adopt HANDLE
 *     cloop-shim --local-exec WORD…            a host process before it is one (local-exec.h)
 *     cloop-shim --keep WORD…                  a keeper (spawn-keeper.h)
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "executor/container/supervise/supervise.h"
#include "executor/localprocess/local-exec.h"
#include "executor/localprocess/local-supervise.h"
#include "executor/rundir/record.h"
#include "sys/log.h"
#include "sys/spawn-keeper.h"

enum { LOCK_FD = 3, CALLER_FD = 4 };

static const struct driver {
	const char *kind; /* executor_kind of the record */
	int (*start)(const char *home, const char *handle, int lock_fd, int caller_fd);
	int (*adopt)(const char *home, const char *handle);
} drivers[] = {
	{"container", supervise_start, supervise_adopt},
	{"localprocess", local_supervise_start, local_supervise_adopt},
};

/*
 * Whose run it is. Where the record does not say, what was decided does: only an engine's has a
 * `runtime`; and where nothing does, the first one tells what is wrong with it.
 */
static const struct driver *driver_of(const char *home, const char *handle)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(home) h = HOME_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	if (home_open(home, &h, &err) < 0 || rundir_open(&h, handle, &run, &err) < 0)
		return &drivers[0];
	auto_json *record = rundir_read(&run, RECORD_FILE, &err);
	struct text kind = json_get_text(record, "executor_kind");
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (text_is(kind, drivers[i].kind))
			return &drivers[i];
	auto_json *request = rundir_read(&run, REQUEST_FILE, &err);
	return &drivers[request && !json_object_get(request, "runtime") ? 1 : 0];
}

int main(int argc, char **argv)
{
	if (argc >= 3 && strcmp(argv[1], "--local-exec") == 0)
		return local_exec(argv + 2);
	if (argc >= 3 && strcmp(argv[1], "--keep") == 0)
		return spawn_keeper_main(argv + 2);
	signal(SIGXFSZ, SIG_IGN); /* a file limit is an error like a full disk */
	signal(SIGPIPE, SIG_IGN); /* a session's program that closed its stdin */
	log_open("cloop-shim", LOG_LEVEL_INFO);
	if (argc == 5 && strcmp(argv[1], "--home") == 0) {
		const struct driver *d = driver_of(argv[2], argv[4]);
		if (strcmp(argv[3], "--start") == 0)
			return d->start(argv[2], argv[4], LOCK_FD, CALLER_FD);
		if (strcmp(argv[3], "--adopt") == 0)
			return d->adopt(argv[2], argv[4]);
	}
	fputs("cloop-shim: started by cloop, not by hand\n", stderr);
	return 2;
}

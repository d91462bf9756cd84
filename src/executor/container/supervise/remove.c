/*
 * After the end: the container is removed, then the run's network, its files, then the lock is free
 * (container-driver.md §13.4). What the engine does not do stays for the reaper.
 */
#include <string.h>

#include "base/mem.h"
#include "executor/container/failure.h"
#include "executor/container/inspect.h"
#include "executor/container/supervise/mask.h"
#include "executor/container/supervise/orphan.h"
#include "executor/container/supervise/revoke.h"
#include "executor/container/supervise/supervisor.h"
#include "executor/rundir/stage-record.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/log.h"

enum {
	REMOVE_TIMEOUT_MS = 60000,
	REMOVE_AGAIN_MS = 1000,
	REMOVE_ATTEMPTS = 2,
	LOOKUP_EVERY_MS = 250,
	LOOKUP_FOR_MS = 3000,
	MONITOR_FOR_MS = 1000,
};

static void stop_loop(void *data)
{
	struct supervisor *s = data;

	loop_stop(s->loop);
}

/* The container is gone: what was revoked is, too, unless files of it are left. */
static void settle_revocations(struct supervisor *s)
{
	if (stage_record_exists(&s->home, s->run.handle))
		revoke_settle(s, "failed", "files of the lease could not be wiped");
	else
		revoke_settle(s, "done", NULL);
}

/*
 * The control socket first: it is no sign of an unfinished removal (rundir_has_leftovers), the
 * others are.
 */
static void remove_files(struct supervisor *s)
{
	static const char *const files[] = {"hosts", "resolv.conf", "stderr.fifo", "stdout.fifo",
		"conmon.pid", "init.pid", "cid"};
	auto_error struct error err = ERROR_INIT;

	fault_hit("finish:removed");
	settle_revocations(s);
	control_unlink(&s->home, s->run.handle);
	gate_unlisten(s);
	if (file_remove_tree_at(s->run.fd, "ctl", &err) < 0)
		log_warning("%s", err.message);
	fault_hit("finish:files");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		unlinkat(s->run.fd, files[i], 0);
	fault_hit("finish:done");
	attach_linger(s, stop_loop);
}

void remove_rest(struct supervisor *s)
{
	network_remove(s, remove_files);
}

/* The one change ever made to a final record. */
static void leave_container(struct supervisor *s, struct text words)
{
	AUTO(str) shown = STR_INIT(8192);
	auto_free char *masked = mask_words(s, words);

	text_escape(&shown, text_of(masked), FAILURE_QUOTE_BYTES_MAX);
	record_warn(s->record, "container_left", "the container could not be removed: %s",
		str_text(&shown));
	supervisor_persist(s, true);
	revoke_settle(s, failure_code(words) == ERROR_ENGINE_UNREACHABLE ? "unreachable" : "failed",
		str_text(&shown));
	remove_files(s);
}

static void go_on(void *data)
{
	struct supervisor *s = data;

	s->poll_timer = NULL;
	remove_begin(s);
}

static void again_in(struct supervisor *s, int64_t ms)
{
	s->poll_timer = loop_at(s->loop, clock_boottime_ms() + ms, go_on, s);
}

/* After the death of conmon the first `rm` of podman 4.3.1 fails, the second works. */
static void failed(struct supervisor *s, struct text words)
{
	if (++s->remove_attempts < REMOVE_ATTEMPTS)
		again_in(s, REMOVE_AGAIN_MS);
	else
		leave_container(s, words);
}

/* The engine has no container of ours: does its monitor know, too? */
static void gone(void *data)
{
	struct supervisor *s = data;
	int64_t now = clock_boottime_ms();

	s->poll_timer = NULL;
	if (s->monitor_until == 0)
		s->monitor_until = now + MONITOR_FOR_MS;
	bool forgotten = s->plan.runtime.engine == ENGINE_PODMAN && !s->confirmed &&
			 (s->start_killed || s->adopted);
	if (forgotten && orphan_monitor(s->plan.container_name, now > s->monitor_until))
		s->poll_timer = loop_at(s->loop, now + ORPHAN_EVERY_MS, gone, s);
	else
		remove_rest(s);
}

static void on_removed(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;

	s->remove_call = NULL;
	if (answer->exit_code == 0 || inspect_says_unknown(answer->stderr_text))
		gone(s);
	else
		failed(s, answer->stderr_text);
}

static void remove_container(struct supervisor *s, const char *id)
{
	auto_error struct error err = ERROR_INIT;
	const char *podman[] = {"rm", "--force", "--time=0", "--volumes", id, NULL};
	const char *docker[] = {"rm", "--force", "--volumes", id, NULL};
	const char *const *args = s->plan.runtime.engine == ENGINE_PODMAN ? podman : docker;

	s->remove_call = supervisor_engine(s, args, REMOVE_TIMEOUT_MS, on_removed, &err);
	if (!s->remove_call)
		failed(s, text_of(err.message));
}

/* Without an id only a container that carries our handle is ours: the holder of a name survives. */
static void on_looked_up(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	AUTO(inspection) seen = INSPECTION_INIT;

	s->inspect_call = NULL;
	bool found = answer->exit_code == 0 && inspect_parse(answer->out, &seen, &err) == 0;
	if (!found && !inspect_says_unknown(answer->stderr_text))
		failed(s, answer->stderr_text);
	else if (found && seen.handle && strcmp(seen.handle, s->run.handle) == 0)
		remove_container(s, seen.id);
	else if (clock_boottime_ms() < s->lookup_until)
		again_in(s, LOOKUP_EVERY_MS);
	else
		gone(s);
}

/* Step 9 of §9.1 makes them, step 11 is the call. */
static bool may_have_called(const struct supervisor *s)
{
	return s->start_called || (s->adopted && rundir_has_leftovers(&s->run));
}

static void look_up(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	/*
	 * docker goes on making a container whose client was killed: it may come a moment later,
	 * and a new supervisor cannot know whether there was such a client.
	 */
	bool late = s->start_killed || (s->adopted && s->plan.runtime.engine == ENGINE_DOCKER);
	if (s->lookup_until == 0)
		s->lookup_until = clock_boottime_ms() + (late ? LOOKUP_FOR_MS : 0);
	s->inspect_call = supervisor_inspect(s, on_looked_up, &err);
	if (!s->inspect_call)
		failed(s, text_of(err.message));
}

void remove_begin(struct supervisor *s)
{
	/* The client of the start has not answered yet: it holds the container's lock. */
	if (s->remove_call || s->inspect_call || s->start_call || network_busy(s))
		return;
	/* Nor must a dead supervisor's client make or hold the container behind our back. */
	if (orphan_works(s, 0)) {
		again_in(s, ORPHAN_EVERY_MS);
		return;
	}
	const char *id = supervisor_container_id(s);
	if (s->not_ours || !may_have_called(s))
		remove_rest(s);
	else if (id[0])
		remove_container(s, id);
	else
		look_up(s);
}

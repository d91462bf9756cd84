/* The start of a host process, from the pipes to the moment it runs. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "executor/container/init/init-exec.h"
#include "executor/localprocess/local-exec.h"
#include "executor/localprocess/local-supervisor.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/spawn.h"

void local_begin_answer(struct local_supervisor *s, const json_t *answer)
{
	auto_free char *text = json_write(answer);

	if (s->caller_fd < 0)
		return;
	(void)!send(s->caller_fd, text, strlen(text), MSG_NOSIGNAL);
	loop_remove(s->caller);
	s->caller = NULL;
	close(s->caller_fd);
	s->caller_fd = -1;
}

void local_begin_fail(struct local_supervisor *s, struct error *err)
{
	if (s->phase != LOCAL_STARTING && s->phase != LOCAL_RELEASED)
		return;
	error_move(&s->failure, err);
	s->failure_outcome = "start_failed";
	local_finish_begin(s);
}

static void on_caller_gone(void *data, uint32_t events)
{
	struct local_supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	char byte;

	(void)events;
	if (recv(s->caller_fd, &byte, 1, MSG_DONTWAIT) > 0)
		return;
	loop_remove(s->caller);
	s->caller = NULL;
	error_set(&err, ERROR_START_CANCELLED, "the start was cancelled: its caller went away");
	local_begin_fail(s, &err);
}

static int explain_spawn(const struct local_supervisor *s, struct error *err)
{
	struct stat st;

	if (stat(s->plan.project, &st) < 0 || !S_ISDIR(st.st_mode) ||
		access(s->plan.project, X_OK) < 0)
		return error_set_errno(err, ERROR_NOT_A_PROJECT, errno ? errno : ENOTDIR,
			"entering the project %s", quoted_string(s->plan.project));
	err->code = ERROR_EXEC_FAILED;
	return error_prefix(err, "starting %s", quoted_string(s->plan.command.v[0]));
}

/* The process that will become the workload; it waits at the gate. */
static int spawn(struct local_supervisor *s, int gate, const int ends[2], struct error *err)
{
	AUTO(strv) argv = STRV_INIT(LOCAL_WORDS_MAX + 2);
	struct child child = CHILD_INIT;

	strv_add(&argv, "cloop-shim");
	strv_add(&argv, "--local-exec");
	strv_add_all(&argv, &s->plan.command);
	struct spawn spawn = {
		.path = "/proc/self/exe",
		.argv = argv.v,
		.cwd = s->plan.project,
		.new_session = true,
		.fds = {{ends[0], 1}, {ends[1], 2}, {gate, LOCAL_EXEC_SOCKET},
			{s->launch_fd, LOCAL_EXEC_LAUNCH}},
		.n_fds = 4,
	};
	if (spawn_start(&spawn, &child, err) < 0)
		return explain_spawn(s, err);
	close(child.pidfd);
	if (!local_process_read(child.pid, &s->first))
		return error_set(err, ERROR_SHIM_FAILED, "the new process cannot be seen in /proc");
	return 0;
}

static void on_gate(void *data, uint32_t events)
{
	(void)events;
	local_begin_on_gate(data);
}

static int make_process(struct local_supervisor *s, struct error *err)
{
	int ends[2], pair[2];

	if (rundir_reserve(&s->run, err) < 0)
		return -1;
	if (output_open(&s->output, false, 0, 0, err) < 0 ||
		output_open_ends(&s->output, ends, err) < 0)
		return -1;
	auto_fd int out = ends[0];
	auto_fd int error_out = ends[1];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set_errno(err, ERROR_IO, errno, "making a socket pair");
	s->gate_fd = pair[0];
	auto_fd int theirs = pair[1];
	int stdio[2] = {out, error_out};
	if (spawn(s, theirs, stdio, err) < 0)
		return -1;
	close(s->launch_fd);
	s->launch_fd = -1;
	s->gate = loop_watch(s->loop, s->gate_fd, EPOLLIN | EPOLLRDHUP, on_gate, s);
	return 0;
}

/* On record first, then the word. */
static int release(struct local_supervisor *s, struct error *err)
{
	json_t *supervision = record_supervision(s->record);

	json_object_set_new(supervision, "released", json_true());
	json_object_set_new(supervision, "boot_id", json_string(clock_boot_id()));
	json_object_set_new(supervision, "pid", json_integer(s->first.pid));
	json_object_set_new(supervision, "start_ticks", json_integer((json_int_t)s->first.start));
	if (s->plan.timeout_ms > 0)
		json_object_set_new(supervision, "deadline_boottime_ms",
			json_integer(clock_boottime_ms() + s->plan.timeout_ms));
	fault_hit("local:record");
	if (rundir_write(&s->run, RECORD_FILE, s->record, false, err) < 0) {
		json_object_set_new(supervision, "released", json_false());
		return -1;
	}
	fault_hit("local:go");
	if (send(s->gate_fd, "G", 1, MSG_NOSIGNAL) != 1)
		return error_set_errno(err, ERROR_SHIM_FAILED, errno, "letting the process go");
	s->phase = LOCAL_RELEASED;
	return 0;
}

void local_begin(struct local_supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	s->caller = loop_watch(s->loop, s->caller_fd, EPOLLIN | EPOLLRDHUP, on_caller_gone, s);
	fault_hit("local:begin");
	if (make_process(s, &err) < 0 || release(s, &err) < 0)
		local_begin_fail(s, &err);
	else
		output_start(&s->output);
}

static void started(struct local_supervisor *s)
{
	s->phase = LOCAL_RUNNING;
	s->started_at = clock_boottime_ms();
	record_set_state(s->record, "running");
	record_set_time(s->record, "started_at", clock_realtime_ns());
	json_object_set_new(
		record_supervision(s->record), "started_boottime_ms", json_integer(s->started_at));
	local_persist(s, false);
	fault_hit("local:started");
	auto_json *ok = json_pack("{s:b, s:s}", "ok", 1, "handle", s->run.handle);
	local_begin_answer(s, ok);
	local_stop_arm_deadline(s);
}

static void exec_failed(struct local_supervisor *s, const struct init_failure *f)
{
	auto_error struct error err = ERROR_INIT;
	enum init_exec_verdict verdict = init_exec_judge(f);
	const char *word = quoted_string(s->plan.command.v[0]);

	json_object_set_new(record_supervision(s->record), "released", json_false());
	if (verdict == INIT_VERDICT_NOT_FOUND) {
		error_set(&err, ERROR_COMMAND_NOT_FOUND, "%s was not found on this host", word);
		error_set_remedy(&err, "install it, or give the run a PATH that holds it");
	} else if (verdict == INIT_VERDICT_NOT_EXECUTABLE)
		error_set_errno(&err, ERROR_COMMAND_NOT_EXECUTABLE, (int)f->error,
			"%s cannot be executed", word);
	else
		error_set_errno(&err, ERROR_EXEC_FAILED, (int)f->error, "starting %s (step %s)",
			word, init_step_text(f->step));
	local_begin_fail(s, &err);
}

void local_begin_on_gate(struct local_supervisor *s)
{
	struct init_failure failure;

	if (s->gate_fd < 0)
		return;
	ssize_t n = recv(s->gate_fd, &failure, sizeof(failure), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	loop_remove(s->gate);
	s->gate = NULL;
	close(s->gate_fd);
	s->gate_fd = -1;
	if (s->phase != LOCAL_RELEASED)
		return;
	if (n == (ssize_t)sizeof(failure))
		exec_failed(s, &failure);
	else
		started(s);
}

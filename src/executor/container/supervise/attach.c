/*
 * Attach sessions: judging the request, asking the init, and what the init says of them
 * (container-driver.md §18, §23.3). What flows through a session: attach-session.h.
 */
#include "executor/container/supervise/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <termios.h>

#include "executor/container/supervise/attach-exec.h"
#include "executor/container/supervise/attach-session.h"
#include "executor/container/supervise/mask.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/clock.h"

enum {
	ASK_AGAIN_MS = 250,
	LINGER_MS = 1000,
	LOST_MS = 300,
	PIPES = 3,
	TTY_NAME_SIZE = 64,
	SIGNAL_CODE = 128
};

/* An adoption is under way, or the init is about to come back: one who asks again may get in. */
static bool may_open_soon(const struct supervisor *s)
{
	return s->phase == PHASE_ADOPTING || s->phase == PHASE_RELEASED ||
	       (s->phase == PHASE_RUNNING && !s->mute && s->wait_status < 0);
}

/* Nothing inside would answer. */
static int judge_floor(const struct supervisor *s, struct error *err)
{
	if (!floor_frozen(s))
		return 0;
	error_set(err, ERROR_ATTACH_CLOSED, "run %s is frozen: disk space is low (disk_low)",
		s->run.handle);
	error_add_detail(err, "soon", json_false());
	return error_set_remedy(err,
		"free space in the workspace and in cloop's home, or lower "
		"orchestrator.min_free_disk_mb for new runs: the run goes on by itself");
}

static int judge_run(const struct supervisor *s, struct error *err)
{
	if (s->phase == PHASE_RUNNING &&
		(s->plan.standalone || (!s->mute && s->init_fd >= 0 && s->wait_status < 0)))
		return 0;
	if (s->mute && supervisor_released(s))
		error_set(err, ERROR_ATTACH_CLOSED,
			"the init of run %s does not answer: nobody can open a session",
			s->run.handle);
	else
		error_set(err, ERROR_ATTACH_CLOSED, "run %s is not running", s->run.handle);
	return error_add_detail(err, "soon", json_boolean(may_open_soon(s)));
}

/* What a session shows is masked, too. */
static int judge_masks(const struct supervisor *s, struct error *err)
{
	if (!s->unread)
		return 0;
	error_set(err, ERROR_ATTACH_CLOSED,
		"values of secrets that would have to be masked are gone: run %s cannot be shown",
		s->run.handle);
	return error_add_detail(err, "soon", json_false());
}

static size_t find_free(const struct supervisor *s)
{
	size_t i = 0;

	while (i < ATTACH_SESSIONS_MAX && s->sessions[i])
		i++;
	return i;
}

int attach_judge(void *data, const json_t *request, json_t **ret, struct error *err)
{
	const struct supervisor *s = data;
	struct attach_request r;

	(void)ret;
	if (attach_request_read(request, &r, err) < 0 || judge_run(s, err) < 0 ||
		judge_floor(s, err) < 0 || judge_masks(s, err) < 0)
		return -1;
	if (find_free(s) == ATTACH_SESSIONS_MAX)
		return error_set(err, ERROR_ATTACH_BUSY, "run %s has %d sessions already",
			s->run.handle, ATTACH_SESSIONS_MAX);
	return 0;
}

static void close_all(int fds[PIPES])
{
	for (size_t i = 0; i < PIPES; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* The sandbox's end of a pipe, and ours, which does not block. -1 with errno. */
static int make_pipe(const struct supervisor *s, bool to_sandbox, int *theirs, int *ours)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	*theirs = ends[to_sandbox ? 0 : 1];
	*ours = ends[to_sandbox ? 1 : 0];
	if (fcntl(*ours, F_SETFL, O_NONBLOCK) < 0)
		return -1;
	return s->plan.runtime.rootless ? 0 : fchown(*theirs, s->plan.uid, s->plan.gid);
}

/* Three pipes; a session that only shows has an stdin that has ended. */
static int make_pipes(struct supervisor *s, struct attach_session *x, int theirs[PIPES])
{
	for (size_t i = 0; i < PIPES; i++) {
		int ours = -1;
		int r = make_pipe(s, i == 0, &theirs[i], &ours);
		if (i > 0)
			attach_session_set_output(x, i - 1, ours);
		else if (x->write)
			attach_session_set_input(x, ours);
		else if (ours >= 0)
			close(ours);
		if (r < 0)
			return -1;
	}
	return 0;
}

static int ask_init(struct supervisor *s, struct attach_session *x, const struct attach_request *r,
	struct error *err)
{
	int theirs[PIPES] = {-1, -1, -1};
	struct init_message m = {.type = INIT_ATTACH, .session = x->id};

	m.attach.tty = r->tty;
	m.attach.rows = r->rows;
	m.attach.cols = r->cols;
	m.attach.argc = r->argc;
	m.attach.argv_len = r->argv_len;
	m.attach.argv = r->argv;
	int ok = getrandom(m.attach.mark, sizeof(m.attach.mark), 0) == sizeof(m.attach.mark) ? 0
											     : -1;
	if (ok == 0 && !r->tty)
		ok = make_pipes(s, x, theirs);
	if (ok == 0)
		ok = gate_send_session(s, &m, theirs);
	int reason = errno;
	close_all(theirs);
	if (ok < 0)
		return error_set_errno(err, ERROR_EXEC_FAILED, reason,
			"asking the init of run %s for a session", s->run.handle);
	return 0;
}

static void tell_ready(struct attach_session *x)
{
	auto_json *ready = json_pack(
		"{s:b, s:b, s:I}", "tty", x->tty, "write", x->write, "session", (json_int_t)x->id);

	if (x->stage == ATTACH_OPENING)
		x->stage = ATTACH_OPEN;
	attach_connection_add_json(&x->client, ATTACH_READY, ready);
}

/* The terminal is here: one descriptor for each direction, since each is watched by itself. */
static int take_master(struct attach_session *x, int master)
{
	if (master < 0 || fcntl(master, F_SETFL, O_NONBLOCK) < 0)
		return -1;
	attach_session_set_output(x, 0, master);
	if (x->write)
		attach_session_set_input(x, fcntl(master, F_DUPFD_CLOEXEC, 0));
	attach_session_resize(x, 0, 0);
	return 0;
}

/* A terminal of this host, whose size is set before the client looks; -1 with errno. */
static int open_terminal(const struct attach_session *x, char *name, size_t size)
{
	struct winsize window = {.ws_row = x->rows, .ws_col = x->cols};
	struct termios raw;

	auto_fd int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 ||
		ptsname_r(master, name, size) != 0 || tcgetattr(master, &raw) < 0)
		return -1;
	/* What goes through it belongs to the terminal inside. */
	cfmakeraw(&raw);
	if (tcsetattr(master, TCSANOW, &raw) < 0 || ioctl(master, TIOCSWINSZ, &window) < 0)
		return -1;
	return TAKE_FD(master);
}

static int exec_on_terminal(
	struct attach_session *x, const struct attach_request *r, struct error *err)
{
	char name[TTY_NAME_SIZE];
	int master = open_terminal(x, name, sizeof(name));

	if (master < 0 || take_master(x, master) < 0)
		return error_set_errno(err, ERROR_EXEC_FAILED, errno, "opening a terminal");
	return attach_exec_start(x, r, NULL, name, err);
}

static int exec_on_pipes(struct supervisor *s, struct attach_session *x,
	const struct attach_request *r, struct error *err)
{
	int theirs[PIPES] = {-1, -1, -1};
	int ok = make_pipes(s, x, theirs);

	if (ok < 0)
		error_set_errno(err, ERROR_EXEC_FAILED, errno, "making pipes");
	else
		ok = attach_exec_start(x, r, theirs, NULL, err);
	close_all(theirs);
	return ok;
}

/* By the engine (§18.2): nobody says that it runs, so it is ready when its client is. */
static int ask_engine(struct supervisor *s, struct attach_session *x,
	const struct attach_request *r, struct error *err)
{
	int ok = x->tty ? exec_on_terminal(x, r, err) : exec_on_pipes(s, x, r, err);

	if (ok == 0)
		tell_ready(x);
	return ok;
}

void attach_begin(void *data, const json_t *request, int fd, struct text early)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	struct attach_request r;

	/* attach_judge() has found it good. */
	if (attach_request_read(request, &r, &err) < 0) {
		close(fd);
		return;
	}
	struct attach_session *x = attach_session_new(s, &r, fd, early);
	x->id = ++s->last_session;
	s->sessions[find_free(s)] = x;
	if ((s->plan.standalone ? ask_engine : ask_init)(s, x, &r, &err) < 0)
		attach_session_broken(x, &err);
	attach_session_settle(x);
}

static struct attach_session *find(struct supervisor *s, uint32_t id)
{
	for (size_t i = 0; i < ATTACH_SESSIONS_MAX; i++)
		if (s->sessions[i] && s->sessions[i]->id == id)
			return s->sessions[i];
	return NULL;
}

static void on_started(struct attach_session *x, struct init_packet *packet)
{
	auto_error struct error err = ERROR_INIT;
	if (x->stage == ATTACH_OVER || x->hung_up)
		return;
	if (x->tty && take_master(x, packet->fds[0]) < 0) {
		error_set(&err, ERROR_EXEC_FAILED, "the init gave no terminal");
		attach_ask_close(x);
		attach_session_broken(x, &err);
		return;
	}
	if (x->tty)
		packet->fds[0] = -1;
	tell_ready(x);
}

static void on_failed(struct attach_session *x, const struct init_failure *f)
{
	auto_error struct error err = ERROR_INIT;

	start_explain_exec(x->owner, x->word, f, &err);
	mask_error(x->owner, &err);
	attach_session_broken(x, &err);
}

void attach_on_message(struct supervisor *s, struct init_packet *packet)
{
	const struct init_message *m = &packet->message;
	struct attach_session *x = find(s, m->session);

	if (!x || x->stage == ATTACH_OVER)
		return;
	if (m->type == INIT_SESSION_STARTED)
		on_started(x, packet);
	else if (m->type == INIT_SESSION_FAILED)
		on_failed(x, &m->failure);
	else if (m->type == INIT_SESSION_ENDED)
		attach_session_over(x, init_wait_status_code(m->ended.wait_status),
			m->ended.left == INIT_LEFT_UNKNOWN ? -1 : (int64_t)m->ended.left);
	attach_session_settle(x);
}

static bool any_left(const struct supervisor *s)
{
	for (size_t i = 0; i < ATTACH_SESSIONS_MAX; i++)
		if (s->sessions[i])
			return true;
	return false;
}

static void end_lost(void *data)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;

	s->lost_timer = NULL;
	error_set(&err, ERROR_ATTACH_CLOSED,
		"the connection to the init of run %s is gone: its sessions are over",
		s->run.handle);
	error_set_remedy(&err, "attach again");
	for (size_t i = 0; i < ATTACH_SESSIONS_MAX; i++) {
		struct attach_session *x = s->sessions[i];
		if (!x || !x->lost || x->stage == ATTACH_OVER)
			continue;
		attach_session_broken(x, &err);
		attach_session_settle(x);
	}
}

/* A connection ends a moment before its process does, and then the run's end is what is told. */
void attach_on_lost(struct supervisor *s)
{
	for (size_t i = 0; i < ATTACH_SESSIONS_MAX; i++)
		if (s->sessions[i])
			s->sessions[i]->lost = true;
	if (any_left(s) && !s->lost_timer)
		s->lost_timer = loop_at(s->loop, clock_boottime_ms() + LOST_MS, end_lost, s);
}

void attach_on_run_end(struct supervisor *s)
{
	attach_exec_done(s);
	for (size_t i = 0; i < ATTACH_SESSIONS_MAX; i++) {
		struct attach_session *x = s->sessions[i];
		if (!x || x->stage == ATTACH_OVER)
			continue;
		/* The kernel ended every process of the sandbox with its init. */
		x->reason = ATTACH_RUN_ENDED;
		attach_session_over(x, SIGNAL_CODE + SIGKILL, 0);
		attach_session_settle(x);
	}
}

static void on_ask_again(void *data)
{
	struct attach_session *x = data;

	x->again = NULL;
	if (x->stage == ATTACH_CLOSING)
		attach_ask_close(x);
}

void attach_ask_close(struct attach_session *x)
{
	struct init_message m = {.type = INIT_SESSION_CLOSE, .session = x->id};

	if (x->exec) {
		attach_exec_close(x);
		return;
	}

	loop_remove(x->again);
	x->again = NULL;
	if (gate_send_session(x->owner, &m, NULL) < 0)
		x->again = loop_at(
			x->owner->loop, clock_boottime_ms() + ASK_AGAIN_MS, on_ask_again, x);
}

static void on_lingered(void *data)
{
	struct supervisor *s = data;
	void (*fn)(void *) = s->lingering;

	s->linger_timer = NULL;
	s->lingering = NULL;
	fn(s);
}

void attach_release(struct attach_session *x)
{
	struct supervisor *s = x->owner;

	for (size_t i = 0; i < ATTACH_SESSIONS_MAX; i++)
		if (s->sessions[i] == x)
			s->sessions[i] = NULL;
	attach_session_free(x);
	if (!s->lingering || any_left(s))
		return;
	loop_remove(s->linger_timer);
	on_lingered(s);
}

void attach_linger(struct supervisor *s, void (*fn)(void *))
{
	s->lingering = fn;
	if (any_left(s))
		s->linger_timer = loop_at(s->loop, clock_boottime_ms() + LINGER_MS, on_lingered, s);
	else
		on_lingered(s);
}

void attach_done(struct supervisor *s)
{
	attach_exec_done(s);
	loop_remove(s->linger_timer);
	loop_remove(s->lost_timer);
	for (size_t i = 0; i < ATTACH_SESSIONS_MAX; i++)
		if (s->sessions[i])
			attach_session_free(s->sessions[i]);
}

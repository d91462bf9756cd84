#include "guest/gate.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/container/init/init-socket.h"
#include "guest/launch.h"
#include "guest/machine.h"
#include "guest/process.h"
#include "guest/session.h"

enum {
	EXIT_NO_GATE = 125,
	POLL_SIGNALS = 0,
	POLL_SHIM,
	POLL_SESSIONS,
};

struct gate {
	char **argv;
	struct machine machine;
	struct sessions sessions;
	int signals;
	int shim;     /* -1 while there is no connection */
	int pipes[2]; /* the workload's, held so that what it wrote last outlives it */
	pid_t child;
	bool child_gone;
	uint32_t child_status;
	uint64_t timer_ms;   /* 0: none */
	uint32_t kill_error; /* errno of the last signal sent */
	uint32_t left;       /* of the session whose end is being told */
	bool answered;       /* an action gave an event of its own: */
	struct event answer;
	struct init_packet packet; /* the message that is being worked on, and its descriptors */
};

static void answer(struct gate *g, struct event e)
{
	g->answered = true;
	g->answer = e;
}

static void drop_shim(struct gate *g)
{
	if (g->shim >= 0)
		close(g->shim);
	g->shim = -1;
}

static int open_shim(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = INIT_SOCKET_PATH};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

static void do_connect(struct gate *g)
{
	g->shim = open_shim();
	if (g->shim >= 0)
		answer(g, (struct event){.type = EVENT_CONNECTED});
	else
		answer(g, (struct event){.type = EVENT_CONNECT_FAILED, .number = (uint32_t)errno});
}

static uint64_t microseconds(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

static void add_usage(struct init_message *m)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage) < 0)
		return;
	m->exit.user_us = microseconds(usage.ru_utime);
	m->exit.system_us = microseconds(usage.ru_stime);
	m->exit.maxrss_kib = (uint64_t)usage.ru_maxrss;
}

/* A shim that does not take a message is as good as none: what it missed, hello tells the next. */
static int send_message(struct gate *g, const struct init_message *m, const int *fds)
{
	if (g->shim < 0 || init_socket_send(g->shim, m, fds) == 0)
		return 0;
	drop_shim(g);
	return -1;
}

static void do_send(struct gate *g, const struct init_message *planned)
{
	struct init_message m = *planned;

	if (m.type == INIT_EXIT)
		add_usage(&m);
	if (m.type == INIT_SIGNALLED)
		m.signalled.error = g->kill_error;
	if (m.type == INIT_SESSION_ENDED)
		m.ended.left = g->left;
	if (send_message(g, &m, NULL) < 0)
		answer(g, (struct event){.type = EVENT_LOST});
}

static void do_fork(struct gate *g)
{
	struct launch l = {.argv = g->argv,
		.envp = environ,
		.stdio = {-1, g->packet.fds[0], g->packet.fds[1]}};
	struct launched started;
	struct event e = {.type = EVENT_EXEC_FAILED};

	if (launch_start(&l, &started, &e.failure) == 0) {
		g->child = started.pid;
		if (launch_wait(&started.result, &e.failure) == LAUNCH_RUNS)
			e.type = EVENT_EXEC_OK;
	}
	/*
	 * A pipe that nobody has open forgets what is in it: a supervisor that died would lose the
	 * end of the output to its successor. Every child closes them.
	 */
	for (size_t i = 0; e.type == EVENT_EXEC_OK && i < 2; i++) {
		g->pipes[i] = g->packet.fds[i];
		g->packet.fds[i] = -1;
	}
	init_packet_drop_fds(&g->packet);
	answer(g, e);
}

static void do_kill(struct gate *g, pid_t target, int signal)
{
	g->kill_error = kill(target, signal) < 0 ? (uint32_t)errno : 0;
}

static void do_open_session(struct gate *g, uint32_t session)
{
	struct event e = {.type = EVENT_SESSION_FAILED, .session = session};

	if (sessions_open(&g->sessions, &g->packet, &e.failure) < 0)
		answer(g, e);
}

static void do_action(struct gate *g, const struct action *a)
{
	switch (a->type) {
	case ACTION_CONNECT:
		do_connect(g);
		return;
	case ACTION_DISCONNECT:
		drop_shim(g);
		return;
	case ACTION_SEND:
		do_send(g, &a->message);
		return;
	case ACTION_TIMER:
		g->timer_ms = process_now_ms() + a->number;
		return;
	case ACTION_UNDUMPABLE:
		process_undumpable();
		return;
	case ACTION_FORK:
		do_fork(g);
		return;
	case ACTION_KILL_GROUP:
		do_kill(g, -g->child, (int)a->number);
		return;
	case ACTION_KILL_ALL:
		do_kill(g, -1, SIGKILL);
		return;
	case ACTION_OPEN_SESSION:
		do_open_session(g, a->session);
		return;
	case ACTION_CLOSE_SESSION:
		sessions_close(&g->sessions, a->session, g->shim >= 0);
		return;
	case ACTION_EXIT:
		_exit((int)a->number);
	}
}

/* Gives the machine an event, does what it says, and goes on with what came out of that. */
static void feed(struct gate *g, struct event e)
{
	struct actions todo;

	do {
		g->answered = false;
		machine_step(&g->machine, process_now_ms(), &e, &todo);
		for (size_t i = 0; i < todo.n; i++)
			do_action(g, &todo.list[i]);
		e = g->answer;
	} while (g->answered);
}

static void feed_number(struct gate *g, enum event_type type, uint32_t number)
{
	feed(g, (struct event){.type = type, .number = number});
}

static void lose_shim(struct gate *g)
{
	drop_shim(g);
	feed(g, (struct event){.type = EVENT_LOST});
}

static void obey(struct gate *g, const struct init_message *m)
{
	struct event e = {.session = m->session};

	switch (m->type) {
	case INIT_GO:
		e.type = EVENT_GO;
		break;
	case INIT_SIGNAL:
		e.type = EVENT_SIGNAL;
		e.number = m->signal;
		break;
	case INIT_ATTACH:
		e.type = EVENT_ATTACH;
		break;
	case INIT_SESSION_CLOSE:
		e.type = EVENT_SESSION_CLOSE;
		break;
	default: /* the decoder lets no message of our own side pass */
		return;
	}
	feed(g, e);
}

static void read_shim(struct gate *g)
{
	switch (init_socket_receive(g->shim, INIT_FROM_SHIM, &g->packet)) {
	case INIT_RECEIVED_MESSAGE:
		obey(g, &g->packet.message);
		init_packet_drop_fds(&g->packet);
		return;
	case INIT_RECEIVED_NOTHING:
		return;
	case INIT_RECEIVED_END:
	case INIT_RECEIVED_FAULT:
		lose_shim(g);
		return;
	}
}

static void reap(struct gate *g)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == g->child) {
			g->child_gone = true;
			g->child_status = (uint32_t)status;
		} else if (!sessions_reaped(&g->sessions, pid, (uint32_t)status)) {
			feed(g, (struct event){.type = EVENT_ORPHAN});
		}
	}
}

static void read_signals(struct gate *g)
{
	struct caught caught;

	process_read_signals(g->signals, &caught);
	for (unsigned i = 0; i < caught.n; i++)
		feed_number(g, EVENT_CAUGHT, caught.numbers[i]);
	if (caught.child)
		reap(g);
}

static void tell_session_started(struct gate *g, const struct session_report *r)
{
	struct init_message m = {.type = INIT_SESSION_STARTED, .session = r->session};

	m.master = r->master >= 0;
	int sent = send_message(g, &m, &r->master);
	if (r->master >= 0)
		close(r->master);
	if (sent < 0)
		feed(g, (struct event){.type = EVENT_LOST});
}

static void tell_session(struct gate *g, const struct session_report *r)
{
	struct event e = {.session = r->session, .number = r->wait_status, .failure = r->failure};

	if (r->type == SESSION_STARTED) {
		tell_session_started(g, r);
		return;
	}
	g->left = r->left;
	e.type = r->type == SESSION_FAILED ? EVENT_SESSION_FAILED : EVENT_SESSION_ENDED;
	feed(g, e);
}

static bool shim_is_gone(const struct gate *g)
{
	struct pollfd p = {.fd = g->shim, .events = POLLIN};

	return g->shim >= 0 && poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLERR));
}

/* An end that is told to a shim which has just died would be lost: its successor can have it. */
static void tell_child_ended(struct gate *g)
{
	g->child_gone = false;
	if (shim_is_gone(g))
		lose_shim(g);
	feed_number(g, EVENT_CHILD_ENDED, g->child_status);
}

static int wait_ms(const struct gate *g)
{
	uint64_t now = process_now_ms(), at = sessions_due_ms(&g->sessions);

	if (g->timer_ms != 0 && (at == 0 || g->timer_ms < at))
		at = g->timer_ms;
	if (at == 0)
		return -1;
	return at > now ? (int)(at - now) : 0;
}

static void turn(struct gate *g)
{
	struct pollfd p[POLL_SESSIONS + SESSIONS_POLL_MAX] = {
		[POLL_SIGNALS] = {.fd = g->signals, .events = POLLIN},
		[POLL_SHIM] = {.fd = g->shim, .events = POLLIN},
	};
	struct session_report report;
	size_t n = POLL_SESSIONS + sessions_poll(&g->sessions, p + POLL_SESSIONS);

	poll(p, n, wait_ms(g));
	if (p[POLL_SHIM].revents)
		read_shim(g);
	if (p[POLL_SIGNALS].revents)
		read_signals(g);
	while (sessions_report(&g->sessions, &report))
		tell_session(g, &report);
	if (g->child_gone)
		tell_child_ended(g);
	if (g->timer_ms != 0 && g->timer_ms <= process_now_ms()) {
		g->timer_ms = 0;
		feed(g, (struct event){.type = EVENT_TIMER});
	}
}

int gate_main(char **argv)
{
	static struct gate g; /* all zeros: not in the file */

	/* Killing everything is only right where everything is the sandbox. */
	if (getpid() != 1) {
		process_complain((const char *[]){"runs only as process 1 of a sandbox", NULL});
		return EXIT_NO_GATE;
	}
	g.shim = -1;
	g.argv = argv;
	g.signals = process_prepare();
	if (g.signals < 0)
		return errno;
	machine_init(&g.machine);
	sessions_init(&g.sessions);
	feed(&g, (struct event){.type = EVENT_START});
	for (;;)
		turn(&g);
}

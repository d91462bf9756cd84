#include "guest/machine.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "executor/container/init/init-exec.h"

enum {
	GATE_RETRY_MS = 100,
	GATE_WAIT_MS = 2000,
	BACK_OFF_FIRST_MS = 250,
	BACK_OFF_MAX_MS = 2000,
	ENDED_RETRY_MS = 250,
	ENDED_WAIT_MS = 5000,
	EXIT_LOST_AT_GATE = 125,
};

void machine_init(struct machine *m)
{
	*m = (struct machine){.back_off_ms = BACK_OFF_FIRST_MS};
}

static struct action *add(struct actions *a, enum action_type type)
{
	struct action *new = &a->list[a->n++];

	*new = (struct action){.type = type};
	return new;
}

static void add_number(struct actions *a, enum action_type type, uint32_t number)
{
	add(a, type)->number = number;
}

static void add_session(struct actions *a, enum action_type type, uint32_t session)
{
	add(a, type)->session = session;
}

/* An action SEND for the caller to fill; one that leads nowhere while there is no connection. */
static struct init_message *add_send(struct machine *m, struct actions *a, enum init_type type)
{
	static struct init_message nowhere;
	struct init_message *message = m->connected ? &add(a, ACTION_SEND)->message : &nowhere;

	*message = (struct init_message){.type = type};
	return message;
}

static void add_exit(struct machine *m, struct actions *a, uint32_t status)
{
	add_number(a, ACTION_EXIT, status);
	m->state = MACHINE_GONE;
}

static void add_exit_as_child(struct machine *m, struct actions *a)
{
	add_exit(m, a, (uint32_t)init_wait_status_code(m->wait_status));
}

static void send_exit(struct machine *m, struct actions *a)
{
	add_send(m, a, INIT_EXIT)->exit.wait_status = m->wait_status;
	add_exit_as_child(m, a);
}

static void send_session_failed(
	struct machine *m, struct actions *a, uint32_t session, struct init_failure failure)
{
	struct init_message *message = add_send(m, a, INIT_SESSION_FAILED);

	message->session = session;
	message->failure = failure;
}

/* Where a session stands in the list, or n_sessions. */
static size_t find_session(const struct machine *m, uint32_t session)
{
	size_t i = 0;

	while (i < m->n_sessions && m->sessions[i] != session)
		i++;
	return i;
}

static bool free_session(struct machine *m, uint32_t session)
{
	size_t i = find_session(m, session);

	if (i == m->n_sessions)
		return false;
	m->n_sessions--;
	memmove(&m->sessions[i], &m->sessions[i + 1], (m->n_sessions - i) * sizeof(m->sessions[0]));
	return true;
}

static void wait_for_shim(struct machine *m, struct actions *a)
{
	add_number(a, ACTION_TIMER, m->back_off_ms);
	m->back_off_ms *= 2;
	if (m->back_off_ms > BACK_OFF_MAX_MS)
		m->back_off_ms = BACK_OFF_MAX_MS;
}

static void on_connected(struct machine *m, struct actions *a)
{
	m->connected = true;
	m->back_off_ms = BACK_OFF_FIRST_MS;
	if (m->state == MACHINE_NEW)
		m->state = MACHINE_WAITING;
	add_send(m, a, INIT_HELLO)->phase = m->state == MACHINE_WAITING ? INIT_PHASE_WAITING
					    : m->state == MACHINE_ENDED ? INIT_PHASE_ENDED
									: INIT_PHASE_RUNNING;
	if (m->state == MACHINE_ENDED)
		send_exit(m, a);
}

static void on_connect_failed(struct machine *m, uint64_t now, uint32_t error, struct actions *a)
{
	bool worth_waiting = error == ENOENT || error == EAGAIN || error == ECONNREFUSED;

	if (m->state == MACHINE_NEW) {
		if (worth_waiting && now - m->started_ms < GATE_WAIT_MS)
			add_number(a, ACTION_TIMER, GATE_RETRY_MS);
		else
			add_exit(m, a, error);
	} else if (m->state == MACHINE_RUNNING) {
		wait_for_shim(m, a);
	} else if (m->state == MACHINE_ENDED) {
		if (now - m->ended_ms < ENDED_WAIT_MS)
			add_number(a, ACTION_TIMER, ENDED_RETRY_MS);
		else
			add_exit_as_child(m, a);
	}
}

static void on_lost(struct machine *m, struct actions *a)
{
	m->connected = false;
	if (m->state == MACHINE_WAITING) {
		add_exit(m, a, EXIT_LOST_AT_GATE);
	} else if (m->state == MACHINE_RUNNING) {
		for (size_t i = 0; i < m->n_sessions; i++)
			add_session(a, ACTION_CLOSE_SESSION, m->sessions[i]);
		m->n_sessions = 0;
		wait_for_shim(m, a);
	}
}

/* The other side broke the rules: no connection is better than one that is not understood. */
static void disconnect(struct machine *m, struct actions *a)
{
	add(a, ACTION_DISCONNECT);
	on_lost(m, a);
}

static void on_go(struct machine *m, struct actions *a)
{
	if (m->state != MACHINE_WAITING) {
		disconnect(m, a);
		return;
	}
	m->state = MACHINE_STARTING;
	add(a, ACTION_UNDUMPABLE);
	add(a, ACTION_FORK);
}

static void on_exec_ok(struct machine *m, struct actions *a)
{
	m->state = MACHINE_RUNNING;
	add_send(m, a, INIT_STARTED);
}

static void on_exec_failed(struct machine *m, const struct init_failure *f, struct actions *a)
{
	add_send(m, a, INIT_EXEC_FAILED)->failure = *f;
	add_exit(m, a, (uint32_t)init_exec_exit_status(init_exec_judge(f)));
}

static void on_signal(struct machine *m, uint32_t signal, struct actions *a)
{
	if (m->state == MACHINE_NEW || m->state == MACHINE_WAITING) {
		disconnect(m, a);
	} else if (m->state == MACHINE_RUNNING) {
		if (signal == SIGKILL)
			add(a, ACTION_KILL_ALL);
		else
			add_number(a, ACTION_KILL_GROUP, signal);
		add_send(m, a, INIT_SIGNALLED)->signalled.signal = signal;
	}
}

static void on_attach(struct machine *m, uint32_t session, struct actions *a)
{
	if (m->state == MACHINE_NEW || m->state == MACHINE_WAITING) {
		disconnect(m, a);
		return;
	}
	if (m->state != MACHINE_RUNNING)
		return;
	bool in_use = find_session(m, session) < m->n_sessions;
	if (in_use || m->n_sessions == MACHINE_SESSIONS_MAX) {
		send_session_failed(m, a, session,
			(struct init_failure){in_use ? EEXIST : EBUSY, INIT_STEP_SETUP, false});
		return;
	}
	m->sessions[m->n_sessions++] = session;
	add_session(a, ACTION_OPEN_SESSION, session);
}

static void on_session_close(struct machine *m, uint32_t session, struct actions *a)
{
	if (m->state == MACHINE_RUNNING && find_session(m, session) < m->n_sessions)
		add_session(a, ACTION_CLOSE_SESSION, session);
}

static void on_session_failed(struct machine *m, const struct event *e, struct actions *a)
{
	if (m->state == MACHINE_RUNNING && free_session(m, e->session))
		send_session_failed(m, a, e->session, e->failure);
}

static void on_session_ended(struct machine *m, const struct event *e, struct actions *a)
{
	if (m->state != MACHINE_RUNNING || !free_session(m, e->session))
		return;
	struct init_message *message = add_send(m, a, INIT_SESSION_ENDED);
	message->session = e->session;
	message->ended.wait_status = e->number;
}

static bool ends_init(uint32_t signal)
{
	return signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM;
}

static void on_caught(struct machine *m, uint32_t signal, struct actions *a)
{
	if (m->state == MACHINE_RUNNING)
		add_number(a, ACTION_KILL_GROUP, signal);
	else if (m->state == MACHINE_WAITING && ends_init(signal))
		add_exit(m, a, 128 + signal);
	else if (m->state == MACHINE_ENDED && ends_init(signal))
		add_exit_as_child(m, a);
}

static void on_child_ended(struct machine *m, uint64_t now, uint32_t wait_status, struct actions *a)
{
	if (m->state != MACHINE_RUNNING)
		return;
	m->state = MACHINE_ENDED;
	m->ended_ms = now;
	m->wait_status = wait_status;
	m->n_sessions = 0;
	if (m->connected) {
		send_exit(m, a);
		return;
	}
	add(a, ACTION_KILL_ALL);
	add_number(a, ACTION_TIMER, ENDED_RETRY_MS);
}

/* Between the fork and its outcome there is nothing but the outcome. */
static void step_starting(struct machine *m, const struct event *e, struct actions *a)
{
	if (e->type == EVENT_EXEC_OK)
		on_exec_ok(m, a);
	else if (e->type == EVENT_EXEC_FAILED)
		on_exec_failed(m, &e->failure, a);
}

void machine_step(struct machine *m, uint64_t now_ms, const struct event *e, struct actions *ret)
{
	ret->n = 0;
	if (m->state == MACHINE_GONE)
		return;
	if (m->state == MACHINE_STARTING) {
		step_starting(m, e, ret);
		return;
	}
	switch (e->type) {
	case EVENT_START:
		m->started_ms = now_ms;
		add(ret, ACTION_CONNECT);
		break;
	case EVENT_TIMER:
		add(ret, ACTION_CONNECT);
		break;
	case EVENT_CONNECTED:
		on_connected(m, ret);
		break;
	case EVENT_CONNECT_FAILED:
		on_connect_failed(m, now_ms, e->number, ret);
		break;
	case EVENT_LOST:
		on_lost(m, ret);
		break;
	case EVENT_GO:
		on_go(m, ret);
		break;
	case EVENT_SIGNAL:
		on_signal(m, e->number, ret);
		break;
	case EVENT_ATTACH:
		on_attach(m, e->session, ret);
		break;
	case EVENT_SESSION_CLOSE:
		on_session_close(m, e->session, ret);
		break;
	case EVENT_SESSION_FAILED:
		on_session_failed(m, e, ret);
		break;
	case EVENT_SESSION_ENDED:
		on_session_ended(m, e, ret);
		break;
	case EVENT_CAUGHT:
		on_caught(m, e->number, ret);
		break;
	case EVENT_CHILD_ENDED:
		on_child_ended(m, now_ms, e->number, ret);
		break;
	case EVENT_EXEC_OK:
	case EVENT_EXEC_FAILED:
	case EVENT_ORPHAN:
		break;
	}
}

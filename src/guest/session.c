/*
 * A session's processes are those whose environment has its mark, the leader, and all descendants
 * of these (mark.h), whose parents may die before them. While it is closed they are looked at every
 * 50 ms, which costs nothing at any other time. A process in the middle of an exec has no
 * environment for a moment, or none that may be read: before such a look counts as "none left" it
 * is repeated, a few times.
 */
#include "guest/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "guest/launch.h"
#include "guest/process.h"

enum {
	ENVIRONMENT_MAX = 4096, /* variables */
	KILL_AFTER_MS = 2000,
	GIVE_UP_AFTER_MS = 5000,
	LOOK_MS = 50,
	LOOK_AT_EMPTY_MS = 10,
	LOOKS_AT_EMPTY_MAX = 3,
};

static const char terminal_variable[] = "TERM=xterm-256color";
static const char directory[] = "/workspace";

void sessions_init(struct sessions *s)
{
	*s = (struct sessions){0};
}

static void encode_mark(const uint8_t bytes[INIT_MARK_BYTES], char out[MARK_TEXT])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < INIT_MARK_BYTES; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
}

static bool is_variable(const char *entry, const char *name_and_sign, size_t len)
{
	return strncmp(entry, name_and_sign, len) == 0;
}

/* The workload's environment with the session's two variables first; NULL: too many variables. */
static char *const *environment_with(char *marked)
{
	static char *list[ENVIRONMENT_MAX + 1];
	static char terminal[sizeof(terminal_variable)];
	size_t n = 0;

	memcpy(terminal, terminal_variable, sizeof(terminal));
	list[n++] = marked;
	list[n++] = terminal;
	for (char **e = environ; *e; e++) {
		if (is_variable(*e, MARK_VARIABLE, strlen(MARK_VARIABLE)) ||
			is_variable(*e, "TERM=", strlen("TERM=")))
			continue;
		if (n == ENVIRONMENT_MAX)
			return NULL;
		list[n++] = *e;
	}
	list[n] = NULL;
	return list;
}

static void split_words(const struct init_message *m, char *argv[INIT_ARGV_MAX + 1])
{
	char *word = (char *)(uintptr_t)m->attach.argv;

	for (unsigned i = 0; i < m->attach.argc; i++, word += strlen(word) + 1)
		argv[i] = word;
	argv[m->attach.argc] = NULL;
}

static int setup_failure(struct init_failure *f, int error)
{
	*f = (struct init_failure){(uint32_t)error, INIT_STEP_SETUP, false};
	return -1;
}

/* A terminal of that size; the slave, or -1. */
static int open_terminal(const struct init_message *m, int *master)
{
	struct winsize size = {.ws_row = m->attach.rows, .ws_col = m->attach.cols};
	int locked = 0;

	*master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*master < 0 || ioctl(*master, TIOCSPTLCK, &locked) < 0 ||
		ioctl(*master, TIOCSWINSZ, &size) < 0)
		return -1;
	return ioctl(*master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

static struct session *find_free(struct sessions *s)
{
	for (size_t i = 0; i < SESSIONS_KEPT_MAX; i++)
		if (s->list[i].state == SESSION_FREE)
			return &s->list[i];
	return NULL;
}

/* The session that its shim knows by that number. */
static struct session *find_id(struct sessions *s, uint32_t id)
{
	for (size_t i = 0; i < SESSIONS_KEPT_MAX; i++)
		if (s->list[i].state != SESSION_FREE && !s->list[i].silent && s->list[i].id == id)
			return &s->list[i];
	return NULL;
}

/* Forks the leader on `stdio`. */
static int launch_leader(
	struct session *x, const struct init_message *m, const int stdio[3], struct init_failure *f)
{
	char marked[sizeof(MARK_VARIABLE) + MARK_TEXT] = MARK_VARIABLE;
	char *argv[INIT_ARGV_MAX + 1];
	struct launched started;
	struct launch l = {.argv = argv,
		.envp = environment_with(marked),
		.directory = directory,
		.stdio = {stdio[0], stdio[1], stdio[2]},
		.terminal = m->attach.tty};

	memcpy(marked + strlen(MARK_VARIABLE), x->mark, MARK_TEXT);
	split_words(m, argv);
	if (!l.envp)
		return setup_failure(f, E2BIG);
	if (launch_start(&l, &started, f) < 0)
		return -1;
	x->leader = started.pid;
	x->result = started.result;
	return 0;
}

static int launch_on_terminal(
	struct session *x, const struct init_message *m, struct init_failure *f)
{
	int slave = open_terminal(m, &x->master);

	if (slave < 0)
		return setup_failure(f, errno);
	int r = launch_leader(x, m, (int[]){slave, slave, slave}, f);
	close(slave);
	return r;
}

static void close_master(struct session *x)
{
	if (x->master >= 0)
		close(x->master);
	x->master = -1;
}

int sessions_open(struct sessions *s, const struct init_packet *attach, struct init_failure *f)
{
	const struct init_message *m = &attach->message;
	struct session *x = find_free(s);

	if (!x)
		return setup_failure(f, EBUSY);
	*x = (struct session){.id = m->session, .result = -1, .master = -1};
	encode_mark(m->attach.mark, x->mark);
	int r = m->attach.tty ? launch_on_terminal(x, m, f) : launch_leader(x, m, attach->fds, f);
	if (r < 0) {
		close_master(x);
		return -1;
	}
	x->state = SESSION_OPENING;
	return 0;
}

static void begin_closing(struct session *x)
{
	if (x->state == SESSION_CLOSING)
		return;
	x->state = SESSION_CLOSING;
	x->closing_since_ms = process_now_ms();
	x->look_at_ms = x->closing_since_ms;
}

static void want_closed(struct session *x)
{
	x->close_wanted = true;
	if (x->state == SESSION_OPEN)
		begin_closing(x);
	else if (x->state == SESSION_OPENING && x->leader != 0)
		kill(x->leader, SIGKILL);
}

void sessions_close(struct sessions *s, uint32_t id, bool report)
{
	struct session *x = find_id(s, id);

	if (!x)
		return;
	x->silent = !report;
	want_closed(x);
}

bool sessions_reaped(struct sessions *s, pid_t pid, uint32_t wait_status)
{
	for (size_t i = 0; i < SESSIONS_KEPT_MAX; i++) {
		struct session *x = &s->list[i];
		if (x->state == SESSION_FREE || x->leader != pid)
			continue;
		x->leader = 0;
		x->wait_status = wait_status;
		x->look_at_ms = process_now_ms();
		want_closed(x);
		return true;
	}
	return false;
}

size_t sessions_poll(const struct sessions *s, struct pollfd *p)
{
	size_t n = 0;

	for (size_t i = 0; i < SESSIONS_KEPT_MAX; i++)
		if (s->list[i].state == SESSION_OPENING)
			p[n++] = (struct pollfd){.fd = s->list[i].result, .events = POLLIN};
	return n;
}

uint64_t sessions_due_ms(const struct sessions *s)
{
	uint64_t due = 0;

	for (size_t i = 0; i < SESSIONS_KEPT_MAX; i++) {
		const struct session *x = &s->list[i];
		if (x->state == SESSION_CLOSING && (due == 0 || x->look_at_ms < due))
			due = x->look_at_ms;
	}
	return due;
}

/* Looks whether the leader's exec went through; true if somebody is to be told. */
static bool report_opening(struct session *x, struct session_report *ret)
{
	enum launch_outcome outcome = launch_result(&x->result, &ret->failure);

	if (outcome == LAUNCH_PENDING)
		return false;
	ret->type = outcome == LAUNCH_RUNS ? SESSION_STARTED : SESSION_FAILED;
	x->state = outcome == LAUNCH_RUNS ? SESSION_OPEN : SESSION_FREE;
	if (outcome == LAUNCH_FAILED || x->silent)
		close_master(x);
	ret->master = x->master;
	x->master = -1;
	if (x->state == SESSION_OPEN && x->close_wanted)
		begin_closing(x);
	return !x->silent;
}

static bool nothing_left(struct session *x, const struct mark_count *count)
{
	if (count->found > 0)
		return false;
	return (count->empty == 0 && count->unreadable == 0) ||
	       x->looks_at_empty++ >= LOOKS_AT_EMPTY_MAX;
}

/* One look at the processes of a session that is being closed; true if its end is to be told. */
static bool report_closing(struct session *x, uint64_t now, struct session_report *ret)
{
	uint64_t age = now - x->closing_since_ms;
	int signal = age >= KILL_AFTER_MS ? SIGKILL : x->hung_up ? 0 : SIGHUP;
	struct mark_count count;

	mark_signal(x->mark, x->leader, &x->kin, signal, &count);
	if (age < GIVE_UP_AFTER_MS && !nothing_left(x, &count)) {
		x->hung_up = x->hung_up || count.found > 0;
		x->look_at_ms = now + (count.found > 0 ? LOOK_MS : LOOK_AT_EMPTY_MS);
		return false;
	}
	ret->type = SESSION_ENDED;
	ret->wait_status = x->leader == 0 ? x->wait_status : SIGKILL;
	ret->left = count.unreadable > 0 ? INIT_LEFT_UNKNOWN : count.found;
	x->state = SESSION_FREE;
	return !x->silent;
}

bool sessions_report(struct sessions *s, struct session_report *ret)
{
	uint64_t now = process_now_ms();

	for (size_t i = 0; i < SESSIONS_KEPT_MAX; i++) {
		struct session *x = &s->list[i];
		*ret = (struct session_report){.session = x->id, .master = -1};
		if (x->state == SESSION_OPENING && report_opening(x, ret))
			return true;
		if (x->state == SESSION_CLOSING && x->look_at_ms <= now &&
			report_closing(x, now, ret))
			return true;
	}
	return false;
}

/* Attach sessions of the real init (§18): a terminal, pipes, and closing one without leftovers. */
#include "unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>

#include "unit/guest/sandbox.h"

enum { MARK_FILL = 0xab, GONE_WAIT_MS = 5000, STEP_MS = 20 };

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SHELL(script) WORDS("sh", "-c", script)

/* The test's ends of a session. */
struct ends {
	int in, out, err; /* pipes; on a terminal `out` is the master and the others are -1 */
};

static void running(struct sandbox *s)
{
	sandbox_start(s, SHELL("echo up; sleep 100"), true);
	sandbox_accept(s, INIT_PHASE_WAITING);
	sandbox_go(s);
	sandbox_expect_output(s, "up");
}

static void attach(
	struct sandbox *s, uint32_t id, bool tty, const char *const *argv, const int *fds)
{
	char words[INIT_ARGV_BYTES_MAX];
	struct init_message m = {.type = INIT_ATTACH, .session = id};

	m.attach.tty = tty;
	m.attach.rows = tty ? 30 : 0;
	m.attach.cols = tty ? 90 : 0;
	static uint8_t sessions; /* every session has a mark of its own */
	memset(m.attach.mark, MARK_FILL, sizeof(m.attach.mark));
	m.attach.mark[0] = sessions++;
	m.attach.argv = words;
	for (; argv[m.attach.argc]; m.attach.argc++) {
		size_t len = strlen(argv[m.attach.argc]) + 1;
		memcpy(words + m.attach.argv_len, argv[m.attach.argc], len);
		m.attach.argv_len = (uint16_t)(m.attach.argv_len + len);
	}
	sandbox_send(s, &m, fds);
}

/* Sends the request; what comes of it is to be expected by the caller. */
static struct ends attach_pipes(struct sandbox *s, uint32_t id, const char *const *argv)
{
	int in[2], out[2], err[2];

	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
	for (const int *fd = (int[]){in[0], out[1], err[1], -1}; *fd >= 0; fd++)
		assert_int_equal(fchown(*fd, SANDBOX_UID, SANDBOX_UID), 0);
	attach(s, id, false, argv, (int[]){in[0], out[1], err[1]});
	close(in[0]);
	close(out[1]);
	close(err[1]);
	return (struct ends){in[1], out[0], err[0]};
}

static struct ends attach_terminal(struct sandbox *s, uint32_t id, const char *const *argv)
{
	attach(s, id, true, argv, NULL);
	sandbox_expect(s, INIT_SESSION_STARTED);
	assert_int_equal(s->packet.message.session, id);
	assert_true(s->packet.fds[0] >= 0);
	return (struct ends){-1, s->packet.fds[0], -1};
}

static void expect_started(struct sandbox *s, uint32_t id)
{
	assert_int_equal(sandbox_expect(s, INIT_SESSION_STARTED)->session, id);
	assert_false(s->packet.message.master);
}

static void expect_ended(struct sandbox *s, uint32_t id, uint32_t wait_status)
{
	const struct init_message *m = sandbox_expect(s, INIT_SESSION_ENDED);

	assert_int_equal(m->session, id);
	assert_int_equal(m->ended.wait_status, wait_status);
	assert_int_equal(m->ended.left, 0);
}

static void expect_failed(struct sandbox *s, uint32_t id, uint32_t error, enum init_step step)
{
	const struct init_message *m = sandbox_expect(s, INIT_SESSION_FAILED);

	assert_int_equal(m->session, id);
	assert_int_equal(m->failure.error, error);
	assert_int_equal(m->failure.step, step);
}

static void close_session(struct sandbox *s, uint32_t id)
{
	sandbox_send(s, &(struct init_message){.type = INIT_SESSION_CLOSE, .session = id}, NULL);
}

static void close_ends(struct ends e)
{
	for (const int *fd = (int[]){e.in, e.out, e.err}, *end = fd + 3; fd < end; fd++)
		if (*fd >= 0)
			close(*fd);
}

/* Reads until `text` was seen; a terminal gives CR LF, and EIO at its end. */
static void expect_text(int fd, const char *text)
{
	char got[4096] = "";
	size_t len = 0;

	while (!strstr(got, text)) {
		if (!sandbox_readable(fd))
			fail_msg("expected \"%s\", got \"%s\"", text, got);
		ssize_t n = read(fd, got + len, sizeof(got) - 1 - len);
		if (n <= 0)
			fail_msg("expected \"%s\", got \"%s\" and the end", text, got);
		len += (size_t)n;
		got[len] = '\0';
	}
}

/* Waits until the sandbox has exactly n processes. */
static void expect_processes(struct sandbox *s, unsigned n)
{
	unsigned got = 0;

	for (int ms = 0; ms < GONE_WAIT_MS; ms += STEP_MS) {
		got = sandbox_processes(s);
		if (got == n)
			return;
		usleep(STEP_MS * 1000);
	}
	assert_int_equal(got, n);
}

enum { WORKLOAD_PROCESSES = 3 }; /* init, sh, sleep */

static void test_pipes(void **state)
{
	struct sandbox s;

	(void)state;
	running(&s);
	struct ends e = attach_pipes(&s, 1, WORDS("cat"));
	expect_started(&s, 1);
	assert_int_equal(write(e.in, "hello\n", 6), 6);
	expect_text(e.out, "hello\n");
	close(e.in);
	e.in = -1;
	expect_ended(&s, 1, 0);
	close_ends(e);

	e = attach_pipes(
		&s, 1, SHELL("pwd; echo $TERM $CLOOP_ATTACH $SECRET; echo no >&2; exit 3"));
	expect_started(&s, 1);
	expect_text(e.out, "/workspace\nxterm-256color 01ababababababababababababababab hush\n");
	expect_text(e.err, "no\n");
	expect_ended(&s, 1, 3 << 8);
	close_ends(e);
	sandbox_end(&s);
}

static void test_terminal(void **state)
{
	struct winsize size = {.ws_row = 40, .ws_col = 100};
	struct sandbox s;

	(void)state;
	running(&s);
	struct ends e = attach_terminal(&s, 7, WORDS("sh", "-i"));
	assert_int_equal(write(e.out, "stty size; tty\n", 15), 15);
	expect_text(e.out, "30 90\r\n/dev/pts/");
	assert_int_equal(ioctl(e.out, TIOCSWINSZ, &size), 0);
	assert_int_equal(write(e.out, "stty size\n", 10), 10);
	expect_text(e.out, "40 100\r\n");
	assert_int_equal(write(e.out, "sleep 100\n", 10), 10);
	usleep(100 * 1000);
	assert_int_equal(write(e.out, "\003", 1), 1);
	assert_int_equal(write(e.out, "echo st$((1+1))ll\n", 18), 18);
	expect_text(e.out, "st2ll\r\n");
	assert_int_equal(write(e.out, "exit 4\n", 7), 7);
	expect_ended(&s, 7, 4 << 8);
	close_ends(e);
	sandbox_end(&s);
}

static void test_close_hangs_up(void **state)
{
	struct sandbox s;

	(void)state;
	running(&s);
	struct ends e = attach_pipes(&s, 2,
		SHELL("trap 'echo hung; exit 6' HUP; setsid sleep 100 & sh -c 'echo on; sleep "
		      "100'"));
	expect_started(&s, 2);
	expect_text(e.out, "on");
	close_session(&s, 2);
	expect_text(e.out, "hung");
	expect_ended(&s, 2, 6 << 8);
	expect_processes(&s, WORKLOAD_PROCESSES);
	close_ends(e);
	sandbox_end(&s);
}

static void test_close_kills(void **state)
{
	struct sandbox s;

	(void)state;
	running(&s);
	struct ends e = attach_pipes(&s, 2,
		SHELL("trap '' HUP; setsid sh -c 'env -i sleep 100; true' & sleep 100 & echo on; "
		      "wait"));
	expect_started(&s, 2);
	expect_text(e.out, "on");
	expect_processes(&s, WORKLOAD_PROCESSES + 4);
	close_session(&s, 2);
	expect_ended(&s, 2, SIGKILL);
	expect_processes(&s, WORKLOAD_PROCESSES);
	close_ends(e);
	sandbox_end(&s);
}

/* It has no mark, and its parent is gone after the SIGHUP that it ignores. */
static void test_close_kills_what_lost_its_parent(void **state)
{
	struct sandbox s;

	(void)state;
	running(&s);
	struct ends e = attach_pipes(&s, 2,
		SHELL("sh -c 'trap \"\" HUP; echo on; exec env -i sh -c \"sleep 100; true\"' & "
		      "wait"));
	expect_started(&s, 2);
	expect_text(e.out, "on");
	expect_processes(&s, WORKLOAD_PROCESSES + 3);
	close_session(&s, 2);
	expect_ended(&s, 2, SIGHUP);
	expect_processes(&s, WORKLOAD_PROCESSES);
	close_ends(e);
	sandbox_end(&s);
}

/* A program that cannot be read hides its environment: whether it is of the session is not known.
 */
static void test_unreadable_is_unknown(void **state)
{
	struct sandbox s;

	(void)state;
	running(&s);
	struct ends e = attach_pipes(&s, 1,
		SHELL("cp /usr/bin/sleep hidden; chmod 111 hidden; ./hidden 100 & sleep 0.2; exit "
		      "0"));
	expect_started(&s, 1);
	const struct init_message *m = sandbox_expect(&s, INIT_SESSION_ENDED);
	assert_int_equal(m->ended.wait_status, 0);
	assert_int_equal(m->ended.left, INIT_LEFT_UNKNOWN);
	close_ends(e);
	sandbox_end(&s);
}

/* Started in the last moment, so that its exec is still under way when its leader ends. */
static void test_leader_leaves_children(void **state)
{
	struct sandbox s;

	(void)state;
	running(&s);
	for (uint32_t i = 1; i <= 20; i++) {
		struct ends e = attach_pipes(&s, i, SHELL("setsid sleep 100 & exit 1"));
		expect_started(&s, i);
		expect_ended(&s, i, 1 << 8);
		close_ends(e);
	}
	expect_processes(&s, WORKLOAD_PROCESSES);
	sandbox_end(&s);
}

static void test_failures(void **state)
{
	struct sandbox s;

	(void)state;
	running(&s);
	struct ends e = attach_pipes(&s, 9, WORDS("no-such-command"));
	expect_failed(&s, 9, ENOENT, INIT_STEP_EXEC);
	close_ends(e);
	e = attach_pipes(&s, 9, WORDS("/workspace"));
	expect_failed(&s, 9, EACCES, INIT_STEP_EXEC);
	close_ends(e);
	attach(&s, 9, true, WORDS("no-such-command"), NULL);
	expect_failed(&s, 9, ENOENT, INIT_STEP_EXEC);
	expect_processes(&s, WORKLOAD_PROCESSES);
	sandbox_end(&s);
}

static void test_at_most_four(void **state)
{
	struct ends e[4];
	struct sandbox s;

	(void)state;
	running(&s);
	for (uint32_t i = 0; i < 4; i++) {
		e[i] = attach_pipes(&s, i + 1, WORDS("sleep", "100"));
		expect_started(&s, i + 1);
	}
	close_ends(attach_pipes(&s, 5, WORDS("sleep", "100")));
	expect_failed(&s, 5, EBUSY, INIT_STEP_SETUP);
	close_ends(attach_pipes(&s, 3, WORDS("sleep", "100")));
	expect_failed(&s, 3, EEXIST, INIT_STEP_SETUP);
	close_session(&s, 3);
	expect_ended(&s, 3, SIGHUP);
	struct ends again = attach_pipes(&s, 5, WORDS("sleep", "100"));
	expect_started(&s, 5);
	close_ends(again);
	for (size_t i = 0; i < 4; i++)
		close_ends(e[i]);
	sandbox_end(&s);
}

static void test_lost_shim_closes_sessions(void **state)
{
	struct sandbox s;

	(void)state;
	running(&s);
	struct ends e = attach_pipes(&s, 1, SHELL("trap '' HUP; echo on; sleep 100"));
	expect_started(&s, 1);
	expect_text(e.out, "on");
	sandbox_listen(&s);
	sandbox_hang_up(&s);
	sandbox_accept(&s, INIT_PHASE_RUNNING);
	/* The number is free at once, though the old session is still being closed. */
	struct ends other = attach_pipes(&s, 1, WORDS("cat"));
	expect_started(&s, 1);
	expect_processes(&s, WORKLOAD_PROCESSES + 1);
	assert_int_equal(write(other.in, "x", 1), 1);
	close(other.in);
	other.in = -1;
	expect_ended(&s, 1, 0);
	close_ends(e);
	close_ends(other);
	sandbox_end(&s);
}

static void test_end_of_the_workload(void **state)
{
	struct sandbox s;

	(void)state;
	running(&s);
	struct ends e = attach_pipes(&s, 1, SHELL("trap '' TERM; sleep 100"));
	expect_started(&s, 1);
	sandbox_signal(&s, SIGTERM);
	assert_int_equal(sandbox_expect(&s, INIT_EXIT)->exit.wait_status, SIGTERM);
	assert_int_equal(sandbox_wait(&s), 128 + SIGTERM);
	close_ends(e);
	sandbox_end(&s);
}

static int prepare(void **state)
{
	(void)state;
	return sandbox_prepare(GUEST) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipes),
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_close_hangs_up),
		cmocka_unit_test(test_close_kills),
		cmocka_unit_test(test_close_kills_what_lost_its_parent),
		cmocka_unit_test(test_unreadable_is_unknown),
		cmocka_unit_test(test_leader_leaves_children),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_at_most_four),
		cmocka_unit_test(test_lost_shim_closes_sessions),
		cmocka_unit_test(test_end_of_the_workload),
	};

	if (geteuid() != 0) {
		puts("1..0 # skip a sandbox for the real init needs root");
		return 0;
	}
	return cmocka_run_group_tests(tests, prepare, NULL);
}

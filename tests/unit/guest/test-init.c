/* The life of the real init of a gated run, from its connection to its exit (§23.2, §14.1). */
#include "unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "unit/guest/sandbox.h"

enum { GUEST_SIZE_MAX = 100 * 1024 };

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SHELL(script) ARGV("sh", "-c", script)

/* Started, connected, at the gate. */
static void at_gate(struct sandbox *s, const char *const *argv)
{
	sandbox_start(s, argv, true);
	sandbox_accept(s, INIT_PHASE_WAITING);
}

static void running(struct sandbox *s, const char *const *argv)
{
	at_gate(s, argv);
	sandbox_go(s);
}

static uint32_t expect_exit(struct sandbox *s)
{
	return sandbox_expect(s, INIT_EXIT)->exit.wait_status;
}

static void test_file(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(stat(GUEST, &st), 0);
	assert_true(st.st_size <= GUEST_SIZE_MAX);
}

static void test_gate(void **state)
{
	struct sandbox s;

	(void)state;
	at_gate(&s, SHELL("touch /workspace/ran; echo out; echo err >&2; exit 7"));
	usleep(200 * 1000);
	assert_int_equal(access("/mnt/workspace/ran", F_OK), -1);
	sandbox_go(&s);
	assert_int_equal(expect_exit(&s), 7 << 8);
	assert_true(s.packet.message.exit.maxrss_kib > 0);
	assert_int_equal(sandbox_wait(&s), 7);
	assert_int_equal(access("/mnt/workspace/ran", F_OK), 0);
	sandbox_expect_output(&s, "out\nerr\n");
	sandbox_end(&s);
}

static void test_endings(void **state)
{
	static const struct {
		const char *script;
		uint32_t wait_status;
		int code;
	} rows[] = {
		{"exit 0", 0, 0},
		{"exit 255", 0xff00, 255},
		{"exit 137", 137 << 8, 137},
		{"exit 126", 126 << 8, 126},
		{"ulimit -c 0; kill -SEGV $$", SIGSEGV, 128 + SIGSEGV},
		{"kill -KILL $$", SIGKILL, 128 + SIGKILL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sandbox s;
		running(&s, SHELL(rows[i].script));
		assert_int_equal(expect_exit(&s), rows[i].wait_status);
		assert_int_equal(sandbox_wait(&s), rows[i].code);
		sandbox_end(&s);
	}
}

static void test_shim_leaves_before_go(void **state)
{
	struct sandbox s;

	(void)state;
	at_gate(&s, SHELL("touch /workspace/never"));
	sandbox_hang_up(&s);
	assert_int_equal(sandbox_wait(&s), 125);
	assert_int_equal(access("/mnt/workspace/never", F_OK), -1);
	sandbox_end(&s);
}

static void test_signal_before_go(void **state)
{
	struct sandbox s;

	(void)state;
	at_gate(&s, SHELL("touch /workspace/never"));
	kill(s.init, SIGUSR1);
	kill(s.init, SIGTERM);
	assert_int_equal(sandbox_wait(&s), 143);
	sandbox_end(&s);

	at_gate(&s, SHELL("touch /workspace/never"));
	sandbox_send(&s, &(struct init_message){.type = INIT_SIGNAL, .signal = SIGTERM}, NULL);
	assert_true(sandbox_lost(&s));
	assert_int_equal(sandbox_wait(&s), 125);
	assert_int_equal(access("/mnt/workspace/never", F_OK), -1);
	sandbox_end(&s);
}

static void test_bad_message_before_go(void **state)
{
	struct sandbox s;

	(void)state;
	at_gate(&s, SHELL("touch /workspace/never"));
	assert_int_equal(send(s.shim, "\1\x41\0\0\0\0\0\0", 8, 0), 8); /* without descriptors */
	assert_true(sandbox_lost(&s));
	assert_int_equal(sandbox_wait(&s), 125);
	assert_int_equal(access("/mnt/workspace/never", F_OK), -1);
	sandbox_end(&s);
}

static void test_late_socket(void **state)
{
	struct sandbox s;

	(void)state;
	sandbox_start(&s, SHELL("exit 3"), false);
	usleep(300 * 1000);
	sandbox_listen(&s);
	sandbox_accept(&s, INIT_PHASE_WAITING);
	sandbox_go(&s);
	assert_int_equal(sandbox_wait(&s), 3);
	sandbox_end(&s);
}

static void test_no_socket(void **state)
{
	struct sandbox s;

	(void)state;
	sandbox_start(&s, SHELL("exit 3"), false);
	assert_int_equal(sandbox_wait(&s), ENOENT);
	sandbox_end(&s);

	chmod("/mnt/run/cloop/ctl", 0700);
	sandbox_start(&s, SHELL("exit 3"), true);
	assert_int_equal(sandbox_wait(&s), EACCES);
	chmod("/mnt/run/cloop/ctl", 0755);
	sandbox_end(&s);
}

/* A shell runs its trap only when its foreground command has ended: both have to get the signal. */
static void test_signal_reaches_group(void **state)
{
	static const char script[] =
		"trap 'echo trapped; exit 9' TERM; sh -c 'echo ready; exec sleep 100'; echo after";
	struct sandbox s;

	(void)state;
	running(&s, SHELL(script));
	sandbox_expect_output(&s, "ready");
	sandbox_signal(&s, SIGTERM);
	assert_int_equal(expect_exit(&s), 9 << 8);
	sandbox_expect_output(&s, "trapped");
	sandbox_end(&s);

	running(&s, SHELL(script));
	sandbox_expect_output(&s, "ready");
	kill(s.init, SIGTERM);
	assert_int_equal(expect_exit(&s), 9 << 8);
	sandbox_end(&s);
}

static void test_kill_message(void **state)
{
	struct sandbox s;

	(void)state;
	running(&s, SHELL("trap '' TERM; setsid sleep 100 & echo ready; sleep 100"));
	sandbox_expect_output(&s, "ready");
	sandbox_signal(&s, SIGKILL);
	assert_int_equal(expect_exit(&s), SIGKILL);
	assert_int_equal(sandbox_wait(&s), 137);
	sandbox_end(&s);
}

static void test_orphans_are_reaped(void **state)
{
	struct sandbox s;

	(void)state;
	running(&s, SHELL("for i in 1 2 3 4 5; do sh -c 'true & setsid true &'; done; sleep 0.3;"
			  "grep -h State: /proc/[0-9]*/status | grep -c Z"));
	sandbox_expect_output(&s, "0\n");
	sandbox_end(&s);
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void test_exec_failures(void **state)
{
	static char long_name[301];
	const struct {
		const char *word;
		uint32_t error;
		bool found;
		int code;
	} rows[] = {
		{"no-such-command", ENOENT, false, 127},
		{"/workspace/nothing", ENOENT, false, 127},
		{"/workspace/data/x", ENOTDIR, false, 127},
		{long_name, ENAMETOOLONG, false, 127},
		{"/workspace/no-interpreter", ENOENT, true, 126},
		{"/workspace/data", EACCES, true, 126},
		{"/workspace", EACCES, true, 126},
		{"/workspace/no-format", ENOEXEC, true, 126},
		{"/workspace/closed/x", EACCES, false, 126},
	};

	(void)state;
	memset(long_name, 'n', 300);
	write_file("/mnt/workspace/data", "x", 0644);
	write_file("/mnt/workspace/no-interpreter", "#!/no/such/shell\n", 0755);
	write_file("/mnt/workspace/no-format", "echo hello\n", 0755);
	mkdir("/mnt/workspace/closed", 0700);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sandbox s;
		at_gate(&s, ARGV(rows[i].word, "-la"));
		sandbox_send(&s, &(struct init_message){.type = INIT_GO}, (int[]){s.give, s.give});
		struct init_failure f = sandbox_expect(&s, INIT_EXEC_FAILED)->failure;
		assert_int_equal(f.error, rows[i].error);
		assert_int_equal(f.found, rows[i].found);
		assert_int_equal(f.step, INIT_STEP_EXEC);
		assert_int_equal(sandbox_wait(&s), rows[i].code);
		sandbox_end(&s);
	}
}

static void test_reconnect_running(void **state)
{
	struct sandbox s;

	(void)state;
	running(&s, SHELL("echo ready; sleep 100"));
	sandbox_expect_output(&s, "ready");
	sandbox_hang_up(&s);
	usleep(400 * 1000); /* one try fails */
	sandbox_listen(&s);
	sandbox_accept(&s, INIT_PHASE_RUNNING);
	sandbox_signal(&s, SIGTERM);
	assert_int_equal(expect_exit(&s), SIGTERM);
	assert_int_equal(sandbox_wait(&s), 143);
	sandbox_end(&s);
}

static void test_reconnect_ended(void **state)
{
	struct sandbox s;

	(void)state;
	running(&s, SHELL("echo ready; setsid sleep 100 & sleep 0.1; exit 5"));
	sandbox_expect_output(&s, "ready");
	sandbox_hang_up(&s);
	usleep(500 * 1000);
	sandbox_listen(&s);
	sandbox_accept(&s, INIT_PHASE_ENDED);
	assert_int_equal(expect_exit(&s), 5 << 8);
	assert_int_equal(sandbox_wait(&s), 5);
	sandbox_end(&s);
}

static void test_second_go(void **state)
{
	struct sandbox s;

	(void)state;
	running(&s, SHELL("sleep 100"));
	sandbox_send(&s, &(struct init_message){.type = INIT_GO}, (int[]){s.give, s.give});
	assert_true(sandbox_lost(&s));
	sandbox_hang_up(&s);
	sandbox_listen(&s);
	sandbox_accept(&s, INIT_PHASE_RUNNING);
	sandbox_end(&s);
}

static int count_descriptors(pid_t pid)
{
	char path[64];
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *d = opendir(path);
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

/* A program that has just begun has the files of its loader open for a moment. */
static int settled_descriptors(pid_t pid, int wanted)
{
	int n = count_descriptors(pid);

	for (int i = 0; i < 200 && n != wanted; i++) {
		usleep(10000);
		n = count_descriptors(pid);
	}
	return n;
}

static void test_workload_gets_three_descriptors(void **state)
{
	struct sandbox s;

	(void)state;
	int stray = dup(STDOUT_FILENO); /* inherited by the init: not the workload's */
	running(&s, ARGV("sleep", "100"));
	assert_int_equal(settled_descriptors(sandbox_child(&s), 3), 3);
	assert_int_equal(count_descriptors(s.init), 3 + 4); /* signalfd, connection, pipes */
	close(stray);
	sandbox_end(&s);
}

static void test_signals_are_default(void **state)
{
	struct sandbox s;

	(void)state;
	signal(SIGINT, SIG_IGN);
	running(&s, ARGV("grep", "^Sig[BI]", "/proc/self/status"));
	sandbox_expect_output(&s, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
	signal(SIGINT, SIG_DFL);
	sandbox_end(&s);
}

static void test_init_cannot_be_read(void **state)
{
	struct sandbox s;

	(void)state;
	running(&s, SHELL("cat /proc/1/environ || echo no-environ; ls /proc/1/fd || echo no-fd;"
			  "cat /proc/1/mem || echo no-mem; echo $SECRET"));
	sandbox_expect_output(&s, "no-environ");
	sandbox_end(&s);

	running(&s, SHELL("ls /proc/1/fd || echo no-fd; cat /proc/1/mem || echo no-mem"));
	sandbox_expect_output(&s, "no-mem");
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
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_gate),
		cmocka_unit_test(test_endings),
		cmocka_unit_test(test_shim_leaves_before_go),
		cmocka_unit_test(test_signal_before_go),
		cmocka_unit_test(test_bad_message_before_go),
		cmocka_unit_test(test_late_socket),
		cmocka_unit_test(test_no_socket),
		cmocka_unit_test(test_signal_reaches_group),
		cmocka_unit_test(test_kill_message),
		cmocka_unit_test(test_orphans_are_reaped),
		cmocka_unit_test(test_exec_failures),
		cmocka_unit_test(test_reconnect_running),
		cmocka_unit_test(test_reconnect_ended),
		cmocka_unit_test(test_second_go),
		cmocka_unit_test(test_workload_gets_three_descriptors),
		cmocka_unit_test(test_signals_are_default),
		cmocka_unit_test(test_init_cannot_be_read),
	};

	if (geteuid() != 0) {
		puts("1..0 # skip a sandbox for the real init needs root");
		return 0;
	}
	return cmocka_run_group_tests(tests, prepare, NULL);
}

#include "unit/guest/sandbox.h"

#include "unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#define ROOT "/mnt"

enum { ARGV_MAX = 16, COPY_BYTES = 65536, OUTPUT_MAX = 65536, EXIT_NO_SANDBOX = 200 };

static const char *const environment[] = {"PATH=/nowhere:/usr/bin", "SECRET=hush", NULL};

static void make(const char *path, mode_t mode)
{
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void copy(const char *from, const char *to)
{
	static char bytes[COPY_BYTES];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	ssize_t n;

	assert_true(in >= 0 && out >= 0);
	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(out, bytes, (size_t)n), n);
	close(in);
	close(out);
}

bool sandbox_prepare(const char *guest)
{
	if (geteuid() != 0)
		return false;
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	assert_int_equal(mount("tmpfs", ROOT, "tmpfs", 0, "mode=0755"), 0);
	for (const char *const *d = (const char *const[]){ROOT "/usr", ROOT "/dev", ROOT "/proc",
		     ROOT "/run", ROOT "/run/cloop", ROOT "/run/cloop/ctl", NULL};
		*d; d++)
		make(*d, 0755);
	make(ROOT "/workspace", 0777);
	make(ROOT "/tmp", 01777);
	assert_int_equal(mount("/usr", ROOT "/usr", NULL, MS_BIND, NULL), 0);
	assert_int_equal(symlink("usr/bin", ROOT "/bin"), 0);
	assert_int_equal(symlink("usr/lib", ROOT "/lib"), 0);
	assert_int_equal(symlink("usr/lib64", ROOT "/lib64"), 0);
	assert_int_equal(mknod(ROOT "/dev/null", S_IFCHR | 0666, 1 << 8 | 3), 0);
	assert_int_equal(chmod(ROOT "/dev/null", 0666), 0);
	make(ROOT "/dev/pts", 0755);
	assert_int_equal(symlink("pts/ptmx", ROOT "/dev/ptmx"), 0);
	assert_int_equal(mount("devpts", ROOT "/dev/pts", "devpts", 0, "ptmxmode=0666"), 0);
	copy(guest, ROOT "/run/cloop/init");
	copy(guest, ROOT "/run/cloop/init-standalone");
	copy(guest, ROOT "/run/cloop/cloop");
	return true;
}

static _Noreturn void become(const char *program, const char *const *argv)
{
	const char *words[ARGV_MAX] = {program};

	for (size_t i = 0; argv[i] && i + 2 < ARGV_MAX; i++)
		words[i + 1] = argv[i];
	if (chroot(ROOT) < 0 || chdir("/workspace") < 0 ||
		mount("proc", "/proc", "proc", 0, NULL) < 0 || setgroups(0, NULL) < 0 ||
		setgid(SANDBOX_UID) < 0 || setuid(SANDBOX_UID) < 0 ||
		prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) /* a test that fails leaves nothing behind */
		_exit(EXIT_NO_SANDBOX);
	execve(words[0], (char *const *)(uintptr_t)words, (char *const *)(uintptr_t)environment);
	_exit(EXIT_NO_SANDBOX);
}

void sandbox_listen(struct sandbox *s)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = ROOT INIT_SOCKET_PATH};

	unlink(a.sun_path);
	s->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s->listener, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(chown(a.sun_path, SANDBOX_UID, SANDBOX_UID), 0);
	assert_int_equal(listen(s->listener, 1), 0);
}

static void stop_listening(struct sandbox *s)
{
	if (s->listener >= 0)
		close(s->listener);
	s->listener = -1;
	unlink(ROOT INIT_SOCKET_PATH);
}

static void start(struct sandbox *s, const char *program, const char *const *argv, bool on_output)
{
	long pid = syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);

	assert_true(pid >= 0);
	if (pid == 0) {
		if (on_output && (dup2(s->give, 1) < 0 || dup2(s->give, 2) < 0))
			_exit(EXIT_NO_SANDBOX);
		become(program, argv);
	}
	s->init = (pid_t)pid;
}

static void begin(struct sandbox *s)
{
	int ends[2];

	*s = (struct sandbox){.listener = -1, .shim = -1};
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	s->output = ends[0];
	s->give = ends[1];
}

void sandbox_start(struct sandbox *s, const char *const *argv, bool listening)
{
	begin(s);
	if (listening)
		sandbox_listen(s);
	start(s, "/run/cloop/init", argv, false);
}

void sandbox_start_as(struct sandbox *s, const char *program, const char *const *argv)
{
	begin(s);
	start(s, program, argv, true);
}

bool sandbox_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, SANDBOX_WAIT_MS) == 1;
}

void sandbox_accept(struct sandbox *s, enum init_phase phase)
{
	assert_true(sandbox_readable(s->listener));
	s->shim = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(s->shim >= 0);
	stop_listening(s);
	assert_int_equal(sandbox_expect(s, INIT_HELLO)->phase, phase);
}

void sandbox_hang_up(struct sandbox *s)
{
	close(s->shim);
	s->shim = -1;
}

void sandbox_send(struct sandbox *s, const struct init_message *m, const int *fds)
{
	assert_int_equal(init_socket_send(s->shim, m, fds), 0);
}

void sandbox_go(struct sandbox *s)
{
	sandbox_send(s, &(struct init_message){.type = INIT_GO}, (int[]){s->give, s->give});
	sandbox_expect(s, INIT_STARTED);
}

void sandbox_signal(struct sandbox *s, uint32_t signal)
{
	sandbox_send(s, &(struct init_message){.type = INIT_SIGNAL, .signal = signal}, NULL);
	const struct init_message *m = sandbox_expect(s, INIT_SIGNALLED);
	assert_int_equal(m->signalled.signal, signal);
	assert_int_equal(m->signalled.error, 0);
}

const struct init_message *sandbox_expect(struct sandbox *s, enum init_type type)
{
	assert_true(sandbox_readable(s->shim));
	assert_int_equal(
		init_socket_receive(s->shim, INIT_FROM_GUEST, &s->packet), INIT_RECEIVED_MESSAGE);
	assert_string_equal(init_type_text(s->packet.message.type), init_type_text(type));
	return &s->packet.message;
}

bool sandbox_lost(struct sandbox *s)
{
	assert_true(sandbox_readable(s->shim));
	return init_socket_receive(s->shim, INIT_FROM_GUEST, &s->packet) == INIT_RECEIVED_END;
}

void sandbox_expect_output(struct sandbox *s, const char *text)
{
	static char got[OUTPUT_MAX];
	size_t len = 0;

	got[0] = '\0';
	while (!strstr(got, text)) {
		if (!sandbox_readable(s->output))
			fail_msg("expected \"%s\", got \"%s\"", text, got);
		ssize_t n = read(s->output, got + len, sizeof(got) - len - 1);
		assert_true(n > 0);
		len += (size_t)n;
		got[len] = '\0';
	}
}

unsigned sandbox_processes(const struct sandbox *s)
{
	char path[64];
	unsigned n = 0;

	snprintf(path, sizeof(path), "/proc/%d/root/proc", s->init);
	DIR *d = opendir(path);
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] >= '1' && e->d_name[0] <= '9';
	closedir(d);
	return n;
}

int sandbox_wait(struct sandbox *s)
{
	int pidfd = (int)syscall(SYS_pidfd_open, s->init, 0), status;

	assert_true(pidfd >= 0);
	if (!sandbox_readable(pidfd))
		fail_msg("the init does not end");
	close(pidfd);
	assert_int_equal(waitpid(s->init, &status, 0), s->init);
	s->init = 0;
	return init_wait_status_code((uint32_t)status);
}

pid_t sandbox_child(const struct sandbox *s)
{
	char path[64];
	int child = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", s->init, s->init);
	FILE *f = fopen(path, "re");
	assert_non_null(f);
	for (int c; (c = fgetc(f)) >= '0' && c <= '9';)
		child = child * 10 + (c - '0');
	fclose(f);
	assert_true(child > 0);
	return child;
}

void sandbox_end(struct sandbox *s)
{
	if (s->init > 0) {
		kill(s->init, SIGKILL);
		waitpid(s->init, NULL, 0);
	}
	if (s->shim >= 0)
		close(s->shim);
	stop_listening(s);
	close(s->output);
	close(s->give);
}

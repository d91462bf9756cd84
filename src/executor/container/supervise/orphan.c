#include "executor/container/supervise/orphan.h"

#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "base/num.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/clock.h"
#include "sys/file.h"

enum { LINE_MAX_BYTES = 2 << 20, PATIENCE_MS = 2000 };

/* ENGINE run … --cidfile=RUN/cid …: the second word and one of the others. */
static bool is_client(int proc, const char *pid, const char *cidfile)
{
	AUTO(str) bytes = STR_INIT(LINE_MAX_BYTES + 1);
	auto_free char *name = mem_printf("%s/cmdline", pid);
	struct text rest, word;
	unsigned n = 0;

	if (file_read_at(proc, name, LINE_MAX_BYTES, &bytes) < 0)
		return false;
	rest = (struct text){str_text(&bytes), bytes.len};
	while (text_split(&rest, '\0', &word)) {
		n++;
		if (n == 2 && !text_is(word, "run"))
			return false;
		if (n > 2 && text_is(word, cidfile))
			return true;
	}
	return false;
}

/* The number may have got another owner meanwhile: judged again once it is held. */
static bool signal_client(int proc, const char *pid, const char *cidfile, int signal)
{
	uint64_t number;

	if (num_parse(text_of(pid), INT32_MAX, &number) != NUM_OK || !is_client(proc, pid, cidfile))
		return false;
	if (signal == 0)
		return true;
	auto_fd int pidfd = (int)syscall(SYS_pidfd_open, (pid_t)number, 0);
	if (pidfd < 0 || !is_client(proc, pid, cidfile))
		return false;
	syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
	return true;
}

bool orphan_signal(const struct rundir *run, int signal)
{
	auto_free char *cidfile = mem_printf("--cidfile=%s/cid", run->path);
	bool found = false;
	DIR *proc = opendir("/proc");

	if (!proc)
		return false;
	for (struct dirent *e; (e = readdir(proc));)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
			signal_client(dirfd(proc), e->d_name, cidfile, signal))
			found = true;
	closedir(proc);
	return found;
}

bool orphan_works(struct supervisor *s, int signal)
{
	int64_t now = clock_boottime_ms();
	bool first = s->client_until == 0;

	if (!s->adopted)
		return false;
	if (first)
		s->client_until = now + PATIENCE_MS;
	if (!orphan_signal(&s->run, first ? signal : now < s->client_until ? 0 : SIGKILL))
		return false;
	s->start_killed = true;
	return true;
}

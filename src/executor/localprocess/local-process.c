#include "executor/localprocess/local-process.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/num.h"
#include "sys/file.h"

enum { STAT_MAX = 4096, PIPES = 2, FIELD_START = 19 };

/* The fields behind the name of the program, which may hold blanks and parentheses itself. */
static bool fields_of(struct text stat, struct text *ret)
{
	for (size_t i = stat.len; i > 0; i--)
		if (stat.p[i - 1] == ')') {
			*ret = text_trim(text_after(stat, i));
			return true;
		}
	return false;
}

static bool number(struct text t, uint64_t max, uint64_t *ret)
{
	return num_parse(t, max, ret) == NUM_OK;
}

bool local_process_parse(struct text stat, struct local_process *ret)
{
	struct text rest, part, pid = stat;
	uint64_t n[4] = {0}; /* pid, parent, session, start */

	if (!fields_of(stat, &rest) || !text_split(&stat, ' ', &pid) ||
		!number(pid, INT32_MAX, &n[0]))
		return false;
	struct local_process p = {.pid = (pid_t)n[0]};
	for (int i = 0; i <= FIELD_START; i++) {
		if (!text_split(&rest, ' ', &part) || part.len == 0)
			return false;
		if (i == 0)
			p.state = part.p[0];
		else if ((i == 1 && !number(part, INT32_MAX, &n[1])) ||
			 (i == 3 && !number(part, INT32_MAX, &n[2])) ||
			 (i == FIELD_START && !number(part, UINT64_MAX, &n[3])))
			return false;
	}
	p.parent = (pid_t)n[1];
	p.session = (pid_t)n[2];
	p.start = n[3];
	*ret = p;
	return true;
}

bool local_process_read(pid_t pid, struct local_process *ret)
{
	char path[64];
	AUTO(str) bytes = STR_INIT(STAT_MAX + 1);

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (file_read_at(AT_FDCWD, path, STAT_MAX, &bytes) < 0)
		return false;
	return local_process_parse((struct text){str_text(&bytes), bytes.len}, ret);
}

bool local_process_of_session(const struct local_process *p, const struct local_process *leader,
	const struct local_process *now)
{
	if (p->session != leader->pid || p->start < leader->start)
		return false;
	return !now || now->start == leader->start;
}

static bool alive(const struct local_process *p)
{
	return p->state != 'Z' && p->state != 'X';
}

/* Kills it if it still is the one that was looked at. */
static bool end_process(const struct local_process *p)
{
	struct local_process again;

	auto_fd int fd = pidfd_open(p->pid, 0);
	if (fd < 0 || !local_process_read(p->pid, &again) || again.start != p->start)
		return false;
	return pidfd_send_signal(fd, SIGKILL, NULL, 0) == 0;
}

/* One of the processes of /proc that counts; `judge` says which. */
typedef bool judge_fn(const void *data, const struct local_process *p);

static size_t end_all(judge_fn *judge, const void *data)
{
	size_t found = 0;
	DIR *dir = opendir("/proc");

	if (!dir)
		return 0;
	for (struct dirent *e; (e = readdir(dir));) {
		struct local_process p;
		uint64_t pid;
		if (!number(text_of(e->d_name), INT32_MAX, &pid) || (pid_t)pid == getpid() ||
			!local_process_read((pid_t)pid, &p))
			continue;
		if (alive(&p) && judge(data, &p)) {
			found++;
			end_process(&p);
		}
	}
	closedir(dir);
	return found;
}

static bool is_child(const void *data, const struct local_process *p)
{
	return p->parent == *(const pid_t *)data;
}

size_t local_process_kill_children(void)
{
	pid_t self = getpid();

	return end_all(is_child, &self);
}

struct run_marks {
	const struct local_process *leader;
	struct local_process now; /* who has the leader's pid */
	bool there;
	struct stat pipes[PIPES];
	size_t n_pipes;
};

static bool holds_pipe(const struct run_marks *m, pid_t pid)
{
	char path[64];
	struct stat st;
	bool holds = false;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *dir = m->n_pipes ? opendir(path) : NULL;
	if (!dir)
		return false;
	for (struct dirent *e; !holds && (e = readdir(dir));)
		for (size_t i = 0; i < m->n_pipes; i++)
			holds = holds || (fstatat(dirfd(dir), e->d_name, &st, 0) == 0 &&
						 file_same(&st, &m->pipes[i]));
	closedir(dir);
	return holds;
}

static bool is_of_run(const void *data, const struct local_process *p)
{
	const struct run_marks *m = data;

	if (local_process_of_session(p, m->leader, m->there ? &m->now : NULL))
		return true;
	return p->start >= m->leader->start && holds_pipe(m, p->pid);
}

size_t local_process_kill_run(const struct local_process *leader, int run_fd)
{
	static const char *const names[PIPES] = {"stdout.fifo", "stderr.fifo"};
	struct run_marks m = {.leader = leader};

	m.there = local_process_read(leader->pid, &m.now);
	for (size_t i = 0; i < PIPES; i++)
		if (fstatat(run_fd, names[i], &m.pipes[m.n_pipes], AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISFIFO(m.pipes[m.n_pipes].st_mode))
			m.n_pipes++;
	return end_all(is_of_run, &m);
}

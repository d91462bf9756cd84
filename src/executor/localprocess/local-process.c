#include "executor/localprocess/local-process.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
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
static void end_process(const struct local_process *p)
{
	struct local_process again;

	auto_fd int fd = pidfd_open(p->pid, 0);
	if (fd >= 0 && local_process_read(p->pid, &again) && again.start == p->start)
		pidfd_send_signal(fd, SIGKILL, NULL, 0);
}

struct process_list {
	struct local_process *v;
	size_t n, cap;
};

static void process_list_done(struct process_list *l)
{
	free(l->v);
}

/* Everybody but ourselves who is alive. */
static void list_all(struct process_list *ret)
{
	DIR *dir = opendir("/proc");

	if (!dir)
		return;
	for (struct dirent *e; (e = readdir(dir));) {
		struct local_process p;
		uint64_t pid;
		if (!number(text_of(e->d_name), INT32_MAX, &pid) || (pid_t)pid == getpid() ||
			!local_process_read((pid_t)pid, &p) || !alive(&p))
			continue;
		if (ret->n == ret->cap) {
			ret->cap = ret->cap ? ret->cap * 2 : 256;
			ret->v = mem_grow(ret->v, ret->cap, sizeof(*ret->v));
		}
		ret->v[ret->n++] = p;
	}
	closedir(dir);
}

static int by_pid(const void *a, const void *b)
{
	const struct local_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static bool descends_from(const struct process_list *l, const struct local_process *p, pid_t whom)
{
	/* A chain of parents cannot be longer than the list. */
	for (size_t i = 0; p && i <= l->n; i++) {
		if (p->parent == whom)
			return true;
		struct local_process key = {.pid = p->parent};
		p = bsearch(&key, l->v, l->n, sizeof(key), by_pid);
	}
	return false;
}

size_t local_process_kill_descendants(void)
{
	AUTO(process_list) all = {0};
	size_t found = 0;

	list_all(&all);
	if (all.n > 1)
		qsort(all.v, all.n, sizeof(*all.v), by_pid);
	for (size_t i = 0; i < all.n; i++)
		if (descends_from(&all, &all.v[i], getpid())) {
			found++;
			end_process(&all.v[i]);
		}
	return found;
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

static bool is_of_run(const struct run_marks *m, const struct local_process *p)
{
	if (local_process_of_session(p, m->leader, m->there ? &m->now : NULL))
		return true;
	return p->start >= m->leader->start && holds_pipe(m, p->pid);
}

size_t local_process_kill_run(const struct local_process *leader, int run_fd)
{
	static const char *const names[PIPES] = {"stdout.fifo", "stderr.fifo"};
	struct run_marks m = {.leader = leader};
	AUTO(process_list) all = {0};
	size_t found = 0;

	m.there = local_process_read(leader->pid, &m.now);
	for (size_t i = 0; i < PIPES; i++)
		if (fstatat(run_fd, names[i], &m.pipes[m.n_pipes], AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISFIFO(m.pipes[m.n_pipes].st_mode))
			m.n_pipes++;
	list_all(&all);
	for (size_t i = 0; i < all.n; i++)
		if (is_of_run(&m, &all.v[i])) {
			found++;
			end_process(&all.v[i]);
		}
	return found;
}

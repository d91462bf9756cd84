#include "guest/mark.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	PID_LIMIT = 1 << 22, /* the kernel's own maximum */
	PROC_PATH_MAX = 64,
	READ_BYTES = 4096,
	STAT_BYTES = 512,
	STAT_START = 20, /* blanks between the end of the name and the start time */
	PASSES_MAX = 16, /* a look: those that make processes on and on are looked at again */
};

/* A bit a process: of the session; not to be judged. Only the pages in use cost memory. */
static uint8_t members[PID_LIMIT / 8], dark[PID_LIMIT / 8];

static void set_bit(uint8_t *bits, pid_t pid)
{
	bits[pid / 8] |= (uint8_t)(1U << pid % 8);
}

static bool has_bit(const uint8_t *bits, pid_t pid)
{
	return bits[pid / 8] >> pid % 8 & 1;
}

/* The leading decimal number; 0 if there is none or it can be no pid. */
static pid_t read_pid(const char *s)
{
	pid_t n = 0;

	for (; *s >= '0' && *s <= '9' && n < PID_LIMIT; s++)
		n = n * 10 + (*s - '0');
	return n < PID_LIMIT ? n : 0;
}

/* An open file of /proc/NAME; NAME is a pid's digits. */
static int open_of(const char *name, const char *file)
{
	char path[PROC_PATH_MAX];

	if (snprintf(path, sizeof(path), "/proc/%s/%s", name, file) >= PROC_PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(path, O_RDONLY | O_CLOEXEC);
}

struct process {
	pid_t pid, parent;
	uint64_t start;
};

/* The number after `n` blanks; 0 if it is not there. */
static uint64_t field(const char *s, unsigned n)
{
	uint64_t value = 0;

	while (n > 0 && *s)
		n -= *s++ == ' ';
	for (; *s >= '0' && *s <= '9'; s++)
		value = value * 10 + (uint64_t)(*s - '0');
	return value;
}

/* False for a process that has ended (a zombie counts as that), and for PID 1. */
static bool read_process(const char *name, struct process *ret)
{
	char text[STAT_BYTES + 1];
	int fd = open_of(name, "stat");
	ssize_t n = fd < 0 ? -1 : read(fd, text, STAT_BYTES);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	/* "pid (name) S ppid ..."; the name may hold anything, a bracket too */
	const char *end = strrchr(text, ')');
	if (!end || strlen(end) < 5 || end[2] == 'Z' || end[2] == 'X')
		return false;
	*ret = (struct process){read_pid(name), read_pid(end + 4), field(end, STAT_START)};
	return ret->pid > 1;
}

struct matcher {
	const char *mark;
	size_t at; /* bytes of the entry that match so far; SIZE_MAX: it is another */
};

/* True when an entry that is exactly MARK_VARIABLE + mark ends in these bytes. */
static bool match(struct matcher *m, const char *bytes, size_t n)
{
	enum { NAME = sizeof(MARK_VARIABLE) - 1 };

	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '\0') {
			if (m->at == NAME + MARK_TEXT)
				return true;
			m->at = 0;
		} else if (m->at < NAME + MARK_TEXT &&
			   bytes[i] ==
				   (m->at < NAME ? MARK_VARIABLE[m->at] : m->mark[m->at - NAME])) {
			m->at++;
		} else {
			m->at = SIZE_MAX;
		}
	}
	return false;
}

enum environment {
	ENVIRONMENT_OTHER,
	ENVIRONMENT_MARKED,
	ENVIRONMENT_EMPTY,
	ENVIRONMENT_UNREADABLE,
};

static enum environment judge_environment(const char *name, const char *mark)
{
	char bytes[READ_BYTES];
	struct matcher m = {.mark = mark};
	int fd = open_of(name, "environ");
	bool any = false, marked = false;
	ssize_t n = -1;

	if (fd < 0)
		return errno == EACCES || errno == EPERM ? ENVIRONMENT_UNREADABLE
							 : ENVIRONMENT_OTHER;
	while (!marked && (n = read(fd, bytes, sizeof(bytes))) > 0) {
		any = true;
		marked = match(&m, bytes, (size_t)n);
	}
	int error = errno;
	close(fd);
	if (marked || (any && n == 0 && match(&m, "", 1)))
		return ENVIRONMENT_MARKED;
	if (n < 0)
		return error == ESRCH ? ENVIRONMENT_OTHER : ENVIRONMENT_UNREADABLE;
	return any ? ENVIRONMENT_OTHER : ENVIRONMENT_EMPTY;
}

struct scan {
	const char *mark;
	struct mark_kin *kin;
	pid_t last;  /* the highest pid seen */
	bool first;  /* environments are read in the first pass only */
	bool change; /* a member was found */
	struct mark_count *count;
};

static bool is_kin(const struct mark_kin *kin, const struct process *p)
{
	for (size_t i = 0; i < kin->n; i++)
		if (kin->list[i].pid == p->pid && kin->list[i].start == p->start)
			return true;
	return false;
}

static void remember(struct mark_kin *kin, const struct process *p)
{
	if (kin->n == MARK_KIN_MAX || is_kin(kin, p))
		return;
	kin->list[kin->n].pid = p->pid;
	kin->list[kin->n++].start = p->start;
}

static bool has_mark(struct scan *s, const char *name, pid_t pid)
{
	enum environment e = judge_environment(name, s->mark);

	if (e == ENVIRONMENT_UNREADABLE)
		set_bit(dark, pid);
	s->count->empty += e == ENVIRONMENT_EMPTY;
	return e == ENVIRONMENT_MARKED;
}

static void look_at(struct scan *s, const char *name)
{
	struct process p;

	if (!read_process(name, &p) || has_bit(members, p.pid))
		return;
	if (p.pid > s->last)
		s->last = p.pid;
	bool marked = s->first && has_mark(s, name, p.pid);
	bool kin = !marked && (has_bit(members, p.parent) || is_kin(s->kin, &p));
	if (kin)
		remember(s->kin, &p);
	if (marked || kin) {
		set_bit(members, p.pid);
		s->change = true;
	}
}

static int pass(struct scan *s)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	if (!d)
		return -1;
	while ((e = readdir(d)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			look_at(s, e->d_name);
	closedir(d);
	return 0;
}

/* Counts, signals and forgets what the passes have found. */
static void finish(const struct scan *s, int signal)
{
	for (pid_t pid = 2; pid <= s->last; pid++) {
		if (has_bit(members, pid)) {
			s->count->found++;
			if (signal != 0)
				kill(pid, signal);
		} else if (has_bit(dark, pid)) {
			s->count->unreadable++;
		}
	}
	memset(members, 0, (size_t)s->last / 8 + 1);
	memset(dark, 0, (size_t)s->last / 8 + 1);
}

void mark_signal(const char mark[MARK_TEXT], pid_t leader, struct mark_kin *kin, int signal,
	struct mark_count *ret)
{
	struct scan s = {.mark = mark,
		.kin = kin,
		.last = leader,
		.first = true,
		.change = true,
		.count = ret};

	*ret = (struct mark_count){0};
	if (leader > 0)
		set_bit(members, leader);
	for (unsigned i = 0; i < PASSES_MAX && s.change; i++) {
		s.change = false;
		if (pass(&s) < 0) {
			ret->unreadable++;
			break;
		}
		s.first = false;
	}
	finish(&s, signal);
}

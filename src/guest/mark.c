#include "guest/mark.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum {
	PID_LIMIT = 1 << 22, /* the kernel's own maximum */
	PROC_NAME_MAX = 32,
	READ_BYTES = 4096,
	STAT_BYTES = 512,
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
	char path[PROC_NAME_MAX * 2] = "/proc/";

	if (strlen(name) + strlen(file) + 2 > PROC_NAME_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	size_t len = strlen(path);
	memcpy(path + len, name, strlen(name));
	len += strlen(name);
	path[len++] = '/';
	memcpy(path + len, file, strlen(file) + 1);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* The parent, or -1 for a process that has ended (a zombie counts as that). */
static pid_t parent_of(const char *name)
{
	char text[STAT_BYTES + 1];
	int fd = open_of(name, "stat");
	ssize_t n = fd < 0 ? -1 : read(fd, text, STAT_BYTES);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	/* "pid (name) S ppid ..."; the name may hold anything, a bracket too */
	const char *end = strrchr(text, ')');
	if (!end || strlen(end) < 5 || end[2] == 'Z' || end[2] == 'X')
		return -1;
	return read_pid(end + 4);
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
	pid_t last;  /* the highest pid seen */
	bool first;  /* environments are read in the first pass only */
	bool change; /* a member was found */
	struct mark_count *count;
};

static void look_at(struct scan *s, const char *name)
{
	pid_t pid = read_pid(name), parent = pid > 1 ? parent_of(name) : -1;

	if (parent < 0 || has_bit(members, pid))
		return;
	if (pid > s->last)
		s->last = pid;
	bool member = has_bit(members, parent);
	if (s->first && !member) {
		enum environment e = judge_environment(name, s->mark);
		member = e == ENVIRONMENT_MARKED;
		if (e == ENVIRONMENT_UNREADABLE)
			set_bit(dark, pid);
		s->count->empty += e == ENVIRONMENT_EMPTY;
	}
	if (member) {
		set_bit(members, pid);
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

void mark_signal(const char mark[MARK_TEXT], pid_t leader, int signal, struct mark_count *ret)
{
	struct scan s = {.mark = mark, .last = leader, .first = true, .count = ret};

	*ret = (struct mark_count){0};
	if (leader > 0)
		set_bit(members, leader);
	do {
		s.change = false;
		if (pass(&s) < 0) {
			ret->unreadable++;
			break;
		}
		s.first = false;
	} while (s.change);
	finish(&s, signal);
}

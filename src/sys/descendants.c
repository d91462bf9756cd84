#include "sys/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"
#include "sys/file.h"

enum { PROC_FILE_MAX = 8192, COMMAND_LINE_MAX = 1 << 17, GROW = 256 };

void descendants_done(struct descendants *d)
{
	free(d->v);
	*d = DESCENDANTS_INIT;
}

void descendants_add(struct descendants *d, struct descendant p)
{
	if (d->n % GROW == 0)
		d->v = mem_grow(d->v, d->n + GROW, sizeof(*d->v));
	d->v[d->n++] = p;
}

static bool read_proc(pid_t pid, const char *name, struct str *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return file_read_at(AT_FDCWD, path, PROC_FILE_MAX, ret) == 0;
}

static bool next_pid(struct text *rest, pid_t *ret)
{
	struct text word;
	uint64_t n;

	if (!text_split(rest, ' ', &word) || num_parse(word, INT32_MAX, &n) != NUM_OK)
		return false;
	*ret = (pid_t)n;
	return true;
}

/* "PID (NAME) STATE PARENT GROUP SESSION …"; the name may hold anything. */
static bool look_at(pid_t pid, struct descendant *ret)
{
	AUTO(str) stat = STR_INIT(PROC_FILE_MAX + 1);
	pid_t group;

	if (!read_proc(pid, "stat", &stat))
		return false;
	const char *end = strrchr(str_text(&stat), ')');
	if (!end || strlen(end) < 4)
		return false;
	struct text rest = text_of(end + 4);
	*ret = (struct descendant){.pid = pid};
	return next_pid(&rest, &ret->parent) && next_pid(&rest, &group) &&
	       next_pid(&rest, &ret->session);
}

static void find_all(struct descendants *ret)
{
	DIR *proc = opendir("/proc");
	struct descendant one;
	uint64_t pid;

	if (!proc)
		return;
	for (struct dirent *e; (e = readdir(proc));)
		if (num_parse(text_of(e->d_name), INT32_MAX, &pid) == NUM_OK &&
			look_at((pid_t)pid, &one))
			descendants_add(ret, one);
	closedir(proc);
}

static bool has_word(pid_t pid, const char *word)
{
	AUTO(str) words = STR_INIT(COMMAND_LINE_MAX + 1);
	char path[64];
	struct text rest, one;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	if (file_read_at(AT_FDCWD, path, COMMAND_LINE_MAX, &words) < 0)
		return false;
	rest = (struct text){str_text(&words), words.len};
	while (text_split(&rest, '\0', &one))
		if (text_is(one, word))
			return true;
	return false;
}

void descendants_with_word(const char *word, struct descendants *ret)
{
	AUTO(descendants) all = DESCENDANTS_INIT;
	struct descendants found = DESCENDANTS_INIT;

	find_all(&all);
	for (size_t i = 0; i < all.n; i++)
		if (has_word(all.v[i].pid, word))
			descendants_add(&found, all.v[i]);
	descendants_done(ret);
	*ret = found;
}

bool descendants_have(const struct descendants *d, pid_t pid)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].pid == pid)
			return true;
	return false;
}

bool descendants_have_session(const struct descendants *d, pid_t session)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].session == session)
			return true;
	return false;
}

static void add_children(const struct descendants *all, pid_t parent, struct descendants *ret)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].parent == parent && !descendants_have(ret, all->v[i].pid))
			descendants_add(ret, all->v[i]);
}

void descendants_find(pid_t root, struct descendants *ret)
{
	AUTO(descendants) all = DESCENDANTS_INIT;
	struct descendants found = DESCENDANTS_INIT;

	if (root > 0)
		find_all(&all);
	add_children(&all, root, &found);
	for (size_t i = 0; i < found.n; i++)
		add_children(&all, found.v[i].pid, &found);
	descendants_done(ret);
	*ret = found;
}

bool descendant_contained(const struct descendant *p)
{
	AUTO(str) status = STR_INIT(PROC_FILE_MAX + 1);
	struct text rest, line;

	if (!read_proc(p->pid, "status", &status))
		return false;
	rest = text_of(str_text(&status));
	while (text_split(&rest, '\n', &line))
		if (text_starts(line, "NSpid:\t"))
			return text_has_byte(text_after(line, strlen("NSpid:\t")), '\t');
	return false;
}

int descendant_signal(const struct descendant *p, int signal)
{
	struct descendant now;
	auto_fd int fd = pidfd_open(p->pid, 0);

	if (fd >= 0 && look_at(p->pid, &now) && now.session == p->session)
		return pidfd_send_signal(fd, signal, NULL, 0);
	errno = ESRCH;
	return -1;
}

void descendant_kill(const struct descendant *p)
{
	(void)!descendant_signal(p, SIGKILL);
}

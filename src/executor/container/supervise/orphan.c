#include "executor/container/supervise/orphan.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/clock.h"
#include "sys/file.h"

enum {
	LINE_MAX_BYTES = 2 << 20,
	STAT_MAX = 4096,
	STATE_WIDTH = 3, /* ") S" */
	PATIENCE_MS = 2000,
};

/* What a process is recognized by: its words, and what is its stdout. */
struct wanted {
	int proc;
	bool (*test)(struct text words, const char *value);
	const char *value;
	bool child;             /* not it, but a child of such a one */
	const struct stat *out; /* NULL: whatever; else the process is our user's, too */
};

/* ENGINE run|create … --cidfile=RUN/cid …: the second word and one of the others. */
static bool is_client(struct text words, const char *cidfile)
{
	struct text word;
	unsigned n = 0;

	while (text_split(&words, '\0', &word)) {
		n++;
		if (n == 2 && !text_is(word, "run") && !text_is(word, "create"))
			return false;
		if (n > 2 && text_is(word, cidfile))
			return true;
	}
	return false;
}

/* The words after the engine's name are `line` and the id, and no others. */
static bool are_words(struct text words, const char *const *line, const char *id)
{
	struct text word;

	if (!text_split(&words, '\0', &word))
		return false;
	for (; *line; line++)
		if (!text_split(&words, '\0', &word) || !text_is(word, *line))
			return false;
	return text_split(&words, '\0', &word) && text_is(word, id) && words.len == 0;
}

/* The calls that get the pipes (standalone-start.c, standalone.c). */
static bool is_starter(struct text words, const char *id)
{
	static const char *const init[] = {"init", NULL};
	static const char *const start[] = {"start", "--attach", NULL};
	static const char *const attach[] = {"attach", "--no-stdin", "--sig-proxy=false", NULL};

	return are_words(words, init, id) || are_words(words, start, id) ||
	       are_words(words, attach, id);
}

/* …/conmon … -n NAME … */
static bool is_monitor(struct text words, const char *name)
{
	struct text word, before = {NULL, 0};

	if (!text_split(&words, '\0', &word) || !text_ends(word, "conmon"))
		return false;
	while (text_split(&words, '\0', &word)) {
		if (text_is(before, "-n") && text_is(word, name))
			return true;
		before = word;
	}
	return false;
}

static bool read_file(int proc, const char *pid, const char *name, struct str *ret)
{
	auto_free char *path = mem_printf("%s/%s", pid, name);

	return file_read_at(proc, path, ret->max - 1, ret) >= 0;
}

static bool words_match(const struct wanted *w, const char *pid)
{
	AUTO(str) words = STR_INIT(LINE_MAX_BYTES);

	return read_file(w->proc, pid, "cmdline", &words) &&
	       w->test((struct text){str_text(&words), words.len}, w->value);
}

/* The fourth field of stat; the second, in brackets, may hold anything. */
static bool parent_matches(const struct wanted *w, const char *pid)
{
	AUTO(str) stat = STR_INIT(STAT_MAX);

	if (!read_file(w->proc, pid, "stat", &stat))
		return false;
	const char *end = strrchr(str_text(&stat), ')');
	if (!end || strlen(end) <= STATE_WIDTH + 1)
		return false;
	const char *number = end + STATE_WIDTH + 1;
	auto_free char *parent = mem_strndup(number, strcspn(number, " "));
	return words_match(w, parent);
}

static bool writes_there(const struct wanted *w, const char *pid)
{
	auto_free char *out = mem_printf("%s/fd/1", pid);
	struct stat process, st;

	return fstatat(w->proc, pid, &process, 0) == 0 && process.st_uid == geteuid() &&
	       fstatat(w->proc, out, &st, 0) == 0 && file_same(&st, w->out);
}

static bool matches(const struct wanted *w, const char *pid)
{
	if (w->out && !writes_there(w, pid))
		return false;
	return w->child ? parent_matches(w, pid) : words_match(w, pid);
}

/* The number may have got another owner meanwhile: judged again once it is held. */
static void signal_process(const struct wanted *w, const char *pid, pid_t number, int signal)
{
	auto_fd int pidfd = (int)syscall(SYS_pidfd_open, number, 0);

	if (pidfd >= 0 && matches(w, pid))
		syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

/* Signals (0 = none) every process that matches; true: there is one. */
static bool signal_all(struct wanted *w, int signal)
{
	bool found = false;
	uint64_t number;
	DIR *proc = opendir("/proc");

	if (!proc)
		return false;
	w->proc = dirfd(proc);
	for (struct dirent *e; (e = readdir(proc));) {
		if (num_parse(text_of(e->d_name), INT32_MAX, &number) != NUM_OK ||
			!matches(w, e->d_name))
			continue;
		found = true;
		if (signal)
			signal_process(w, e->d_name, (pid_t)number, signal);
	}
	closedir(proc);
	return found;
}

bool orphan_signal(const struct rundir *run, int signal)
{
	auto_free char *cidfile = mem_printf("--cidfile=%s/cid", run->path);
	struct wanted client = {.test = is_client, .value = cidfile};

	return signal_all(&client, signal);
}

static int find(struct wanted *w)
{
	uint64_t number;
	int found = -1;
	DIR *proc = opendir("/proc");

	if (!proc)
		return -1;
	w->proc = dirfd(proc);
	for (struct dirent *e; found < 0 && (e = readdir(proc));) {
		if (num_parse(text_of(e->d_name), INT32_MAX, &number) != NUM_OK)
			continue;
		auto_fd int pidfd = (int)syscall(SYS_pidfd_open, (pid_t)number, 0);
		if (pidfd >= 0 && matches(w, e->d_name))
			found = TAKE_FD(pidfd);
	}
	closedir(proc);
	return found;
}

static bool want_starter(
	const struct rundir *run, const char *container_id, struct stat *out, struct wanted *ret)
{
	*ret = (struct wanted){.test = is_starter, .value = container_id, .out = out};
	return container_id[0] && fstatat(run->fd, "stdout.fifo", out, AT_SYMLINK_NOFOLLOW) == 0;
}

int orphan_client(const struct rundir *run, const char *container_id)
{
	struct wanted starter;
	struct stat out;

	return want_starter(run, container_id, &out, &starter) ? find(&starter) : -1;
}

bool orphan_monitor(const char *container_name, bool hard)
{
	struct wanted monitor = {.test = is_monitor, .value = container_name};
	struct wanted kept = {.test = is_monitor, .value = container_name, .child = true};

	if (!signal_all(&monitor, 0))
		return false;
	signal_all(&kept, SIGKILL);
	if (hard)
		signal_all(&monitor, SIGKILL);
	return true;
}

/* Of a start by several calls (§9.2): those that name the container by its id. */
static bool signal_starters(struct supervisor *s, int signal)
{
	struct wanted starter;
	struct stat out;

	return s->plan.standalone &&
	       want_starter(&s->run, supervisor_container_id(s), &out, &starter) &&
	       signal_all(&starter, signal);
}

bool orphan_works(struct supervisor *s, int signal)
{
	int64_t now = clock_boottime_ms();
	bool first = s->client_until == 0;

	if (!s->adopted)
		return false;
	if (first)
		s->client_until = now + PATIENCE_MS;
	signal = first ? signal : now < s->client_until ? 0 : SIGKILL;
	bool makes = orphan_signal(&s->run, signal);
	if (!signal_starters(s, signal) && !makes)
		return false;
	s->start_killed = true;
	return true;
}

#include "executor/runlog/log-ahead.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "executor/runlog/log-segment.h"

/* Takes the first k out of the list. */
static void remove_first(struct log_ahead *a, size_t k)
{
	a->n -= k;
	memmove(a->first_seq, a->first_seq + k, a->n * sizeof(a->first_seq[0]));
	memmove(a->fds, a->fds + k, a->n * sizeof(a->fds[0]));
}

static void let_go(struct log_ahead *a, size_t k)
{
	for (size_t i = 0; i < k; i++)
		close(a->fds[i]);
	remove_first(a, k);
}

void log_ahead_done(struct log_ahead *a)
{
	let_go(a, a->n);
}

/* All segments of a log are of one size, but for the newest. */
bool log_ahead_full(const struct log_ahead *a)
{
	struct stat st;

	if (a->n < LOG_AHEAD_LEAST || a->n == LOG_AHEAD_MAX)
		return a->n == LOG_AHEAD_MAX;
	return fstat(a->fds[0], &st) == 0 && st.st_size > LOG_AHEAD_BYTES / (off_t)a->n;
}

void log_ahead_look(struct log_ahead *a, int dir, uint64_t after)
{
	auto_error struct error err = ERROR_INIT;
	auto_free uint64_t *list = NULL;
	char name[LOG_SEGMENT_NAME_SIZE];
	size_t n;

	if (log_segment_list(dir, &list, &n, &err) < 0)
		return;
	if (a->n > 0 && a->first_seq[a->n - 1] > after)
		after = a->first_seq[a->n - 1];
	for (size_t i = 0; i < n && !log_ahead_full(a); i++) {
		if (list[i] <= after)
			continue;
		log_segment_name(list[i], name);
		int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0)
			return;
		a->first_seq[a->n] = list[i];
		a->fds[a->n++] = fd;
	}
}

int log_ahead_youngest(const struct log_ahead *a, uint64_t *ret_first_seq)
{
	if (a->n == 0)
		return -1;
	*ret_first_seq = a->first_seq[a->n - 1];
	return a->fds[a->n - 1];
}

int log_ahead_take(struct log_ahead *a, uint64_t first_seq)
{
	size_t i = 0;

	while (i < a->n && a->first_seq[i] < first_seq)
		i++;
	let_go(a, i);
	if (a->n == 0 || a->first_seq[0] != first_seq)
		return -1;
	int fd = a->fds[0];
	remove_first(a, 1);
	return fd;
}

int log_ahead_list(
	const struct log_ahead *a, int dir, uint64_t **ret, size_t *ret_n, struct error *err)
{
	auto_free uint64_t *there = NULL;
	size_t n, skip = 0;

	if (log_segment_list(dir, &there, &n, err) < 0)
		return -1;
	while (skip < n && a->n > 0 && there[skip] <= a->first_seq[a->n - 1])
		skip++;
	uint64_t *all = mem_alloc((a->n + n - skip + 1) * sizeof(*all));
	memcpy(all, a->first_seq, a->n * sizeof(*all));
	if (n > skip)
		memcpy(all + a->n, there + skip, (n - skip) * sizeof(*all));
	*ret = all;
	*ret_n = a->n + n - skip;
	return 0;
}

#include "executor/runlog/log-segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>

#include "base/mem.h"
#include "base/text.h"

void log_segment_name(uint64_t first_seq, char out[LOG_SEGMENT_NAME_SIZE])
{
	snprintf(out, LOG_SEGMENT_NAME_SIZE, "%020" PRIu64 ".seg", first_seq);
}

bool log_segment_from_name(const char *name, uint64_t *ret_first_seq)
{
	uint64_t n = 0;

	if (strlen(name) != LOG_SEGMENT_NAME_SIZE - 1 || strcmp(name + 20, ".seg") != 0)
		return false;
	for (size_t i = 0; i < 20; i++)
		if (!ascii_digit(name[i]) || __builtin_mul_overflow(n, (uint64_t)10, &n) ||
			__builtin_add_overflow(n, (uint64_t)(name[i] - '0'), &n))
			return false;
	*ret_first_seq = n;
	return n > 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void close_directory(DIR **d)
{
	if (*d)
		closedir(*d);
}

void log_segment_mark(int fd, bool marked)
{
	struct flock lock = {.l_type = marked ? F_RDLCK : F_UNLCK, .l_whence = SEEK_SET};

	fcntl(fd, F_OFD_SETLK, &lock);
}

bool log_segment_marked(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

struct numbers {
	uint64_t *v;
	size_t n, cap;
};

static void numbers_done(struct numbers *l)
{
	free(l->v);
}

static int list_once(DIR *d, struct numbers *ret, struct error *err)
{
	uint64_t seq;

	ret->n = 0;
	rewinddir(d);
	for (const struct dirent *e; errno = 0, (e = readdir(d));) {
		if (!log_segment_from_name(e->d_name, &seq))
			continue;
		if (ret->n == ret->cap) {
			ret->cap = ret->cap ? ret->cap * 2 : 32;
			ret->v = mem_grow(ret->v, ret->cap, sizeof(*ret->v));
		}
		ret->v[ret->n++] = seq;
	}
	if (errno != 0)
		return error_set_errno(err, ERROR_IO, errno, "reading the log's directory");
	if (ret->n > 0)
		qsort(ret->v, ret->n, sizeof(*ret->v), compare);
	return 0;
}

/*
 * While the writer makes segments, a listing can miss one and have the next: a reader that took
 * that for all there is would let the writer delete the missed one. But what is older than one that
 * was seen is there when the next listing begins, which does not miss it.
 */
int log_segment_list(int dir, uint64_t **ret, size_t *ret_n, struct error *err)
{
	auto_fd int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	__attribute__((cleanup(close_directory))) DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	AUTO(numbers) list = {.v = NULL};
	uint64_t seen = 0;

	if (!d)
		return error_set_errno(err, ERROR_IO, errno, "reading the log's directory");
	TAKE_FD(fd);
	do {
		seen = list.n > 0 ? list.v[list.n - 1] : 0;
		if (list_once(d, &list, err) < 0)
			return -1;
	} while (list.n > 0 && list.v[0] > seen);
	while (list.n > 0 && list.v[list.n - 1] > seen)
		list.n--;
	*ret = TAKE_PTR(list.v);
	*ret_n = list.n;
	return 0;
}

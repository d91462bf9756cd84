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

int log_segment_list(int dir, uint64_t **ret, size_t *ret_n, struct error *err)
{
	auto_fd int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	__attribute__((cleanup(close_directory))) DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	auto_free uint64_t *list = NULL;
	size_t n = 0, cap = 0;
	uint64_t seq;

	if (!d)
		return error_set_errno(err, ERROR_IO, errno, "reading the log's directory");
	TAKE_FD(fd);
	for (const struct dirent *e; errno = 0, (e = readdir(d));) {
		if (!log_segment_from_name(e->d_name, &seq))
			continue;
		if (n == cap) {
			cap = cap ? cap * 2 : 32;
			list = mem_grow(list, cap, sizeof(*list));
		}
		list[n++] = seq;
	}
	if (errno != 0)
		return error_set_errno(err, ERROR_IO, errno, "reading the log's directory");
	if (n > 0)
		qsort(list, n, sizeof(*list), compare);
	*ret = TAKE_PTR(list);
	*ret_n = n;
	return 0;
}

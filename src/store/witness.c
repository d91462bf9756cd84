/*
 * One write of a fixed size in the same place: it needs no room on a full disk after the first
 * time, leaves nothing behind when its process is killed, and is whole or not there. A reader may
 * meet it half way, so it reads until it has seen the same twice.
 */
#include "store/witness.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "sys/fault.h"
#include "sys/log.h"

#define NAME "audit-head"

enum {
	DIGITS = 19, /* of INT64_MAX */
	LINE = DIGITS + 1 + SHA256_HEX_SIZE - 1 + 1,
	READS_MAX = 16,
};

static bool parse(struct text t, struct witness *ret)
{
	uint64_t number = 0;

	if (t.len != LINE || t.p[DIGITS] != ' ' || t.p[LINE - 1] != '\n')
		return false;
	for (size_t i = 0; i < DIGITS; i++) {
		if (!ascii_digit(t.p[i]))
			return false;
		number = number * 10 + (unsigned)(t.p[i] - '0');
	}
	struct text hash = {t.p + DIGITS + 1, SHA256_HEX_SIZE - 1};
	if (number > INT64_MAX || !text_is_hex(hash, hash.len))
		return false;
	ret->seq = (int64_t)number;
	memcpy(ret->hash, hash.p, hash.len);
	return true;
}

static struct witness read_fd(int fd)
{
	char now[LINE + 1], before[LINE + 1];
	struct witness none = {.seq = 0}, w = none;
	ssize_t n, last = -1;

	for (int i = 0; i < READS_MAX; i++) {
		n = pread(fd, now, sizeof(now), 0);
		if (n < 0)
			return none;
		if (n == last && memcmp(now, before, (size_t)n) == 0)
			return parse((struct text){now, (size_t)n}, &w) ? w : none;
		memcpy(before, now, (size_t)n);
		last = n;
	}
	return none;
}

static int open_file(const char *home, int flags)
{
	auto_fd int dir = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? -1 : openat(dir, NAME, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

struct witness witness_read(const char *home)
{
	auto_fd int fd = open_file(home, O_RDONLY);

	return fd < 0 ? (struct witness){.seq = 0} : read_fd(fd);
}

static int write_line(int fd, const struct witness *w)
{
	char line[LINE + 1];
	struct stat st;

	snprintf(line, sizeof(line), "%0*" PRId64 " %s\n", DIGITS, w->seq, w->hash);
	if (fault_hit("audit-head")) {
		errno = EIO;
		return -1;
	}
	if (fstat(fd, &st) < 0 || (st.st_size > LINE && ftruncate(fd, 0) < 0))
		return -1;
	ssize_t n = pwrite(fd, line, LINE, 0);
	return n == LINE ? 0 : -1;
}

void witness_write(const char *home, const struct witness *w)
{
	auto_fd int fd = open_file(home, O_RDWR | O_CREAT);

	if (fd >= 0 && read_fd(fd).seq > w->seq)
		return;
	if (fd < 0 || write_line(fd, w) < 0)
		log_warning("the head of the audit trail is not noted: %s", strerror(errno));
}

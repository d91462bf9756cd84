#include "executor/runlog/log-cursor.h"

#include <errno.h>
#include <fcntl.h>

#include "base/mem.h"
#include "executor/runlog/log-segment.h"

enum { BUFFER_SIZE = 4 * LOG_PAYLOAD_MAX };

void log_cursor_done(struct log_cursor *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->buffer);
	*c = LOG_CURSOR_INIT;
}

/* Like pread, but tried again after a signal. */
static ssize_t read_at(int fd, void *to, size_t n, uint64_t offset)
{
	ssize_t got;

	do
		got = pread(fd, to, n, (off_t)offset);
	while (got < 0 && errno == EINTR);
	return got;
}

int log_cursor_open(struct log_cursor *c, int dir, uint64_t first_seq, int flags, struct error *err)
{
	char name[LOG_SEGMENT_NAME_SIZE];

	log_segment_name(first_seq, name);
	int fd = openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT)
		return LOG_CLEAN;
	if (fd < 0)
		return error_set_errno(err, ERROR_IO, errno, "opening the log's segment %s", name);
	return log_cursor_take(c, fd, first_seq, err);
}

int log_cursor_take(struct log_cursor *c, int segment, uint64_t first_seq, struct error *err)
{
	char bytes[LOG_HEADER_SIZE];
	struct log_header header;
	auto_fd int fd = segment;

	ssize_t got = read_at(fd, bytes, sizeof(bytes), 0);
	if (got < 0)
		return error_set_errno(err, ERROR_IO, errno, "reading a segment of the log");
	enum log_found found = log_header_decode((struct text){bytes, (size_t)got}, &header);
	if (found != LOG_FOUND)
		return (int)found;
	if (header.first_seq != first_seq)
		return LOG_CORRUPT;
	if (c->fd >= 0)
		close(c->fd);
	c->fd = TAKE_FD(fd);
	c->header = header;
	c->seq = first_seq;
	c->offset = LOG_HEADER_SIZE;
	c->begin = c->end = 0;
	return LOG_FOUND;
}

/* More bytes of the file behind those in the buffer: how many, or -1. */
static ssize_t fill(struct log_cursor *c, struct error *err)
{
	size_t have = c->end - c->begin;

	if (!c->buffer)
		c->buffer = mem_alloc(BUFFER_SIZE);
	if (c->begin > 0)
		memmove(c->buffer, c->buffer + c->begin, have);
	c->begin = 0;
	c->end = have;
	ssize_t got = read_at(c->fd, c->buffer + have, BUFFER_SIZE - have, c->offset + have);
	if (got < 0)
		return error_set_errno(err, ERROR_IO, errno, "reading a segment of the log");
	c->end += (size_t)got;
	return got;
}

int log_cursor_next(struct log_cursor *c, struct log_frame *ret, struct error *err)
{
	enum log_found found;
	size_t size = 0;
	ssize_t got;

	for (;;) {
		struct text rest = {c->buffer + c->begin, c->end - c->begin};
		found = log_frame_decode(rest, c->seq, ret, &size);
		if (found != LOG_CLEAN && found != LOG_TORN)
			break;
		got = fill(c, err);
		if (got < 0)
			return -1;
		if (got == 0)
			break;
	}
	if (found == LOG_FOUND) {
		c->begin += size;
		c->offset += size;
		c->seq++;
	} else {
		c->begin = c->end = 0;
	}
	return (int)found;
}

#include "executor/container/driver/build-output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "sys/file.h"

/* A piece grows up to four times when it is escaped: then it still is one write to a pipe. */
enum { PIECE_MAX = 1000, SHOWN_MAX = 4096, LOG_SLACK = 1 << 20, LOG_CHUNK = 65536 };

void build_output_done(struct build_output *o)
{
	cleanup_fd(&o->log);
	str_done(&o->line);
	str_done(&o->out);
	str_done(&o->tail);
}

int build_output_open_log(struct build_output *o, int dir, const char *name, struct error *err)
{
	if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
		return error_set_errno(err, ERROR_IO, errno, "removing the log of a build");
	o->log = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return o->log >= 0 ? 0 : error_set_errno(err, ERROR_IO, errno, "making the log of a build");
}

/* How much of what is kept begins in the middle of a line, or of a character of a long one. */
static size_t broken_start(struct text kept)
{
	const char *lf = memchr(kept.p, '\n', kept.len < SHOWN_MAX ? kept.len : SHOWN_MAX);
	size_t n = 0;

	if (lf)
		return (size_t)(lf + 1 - kept.p);
	while (n < kept.len && ((unsigned char)kept.p[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* The last bytes of the log move to its beginning, from the start of a line on if one is near. */
static int cut_log(struct build_output *o)
{
	auto_free char *kept = mem_alloc(BUILD_OUTPUT_LOG_MAX);
	off_t from = (off_t)(o->logged - BUILD_OUTPUT_LOG_MAX);
	ssize_t n = pread(o->log, kept, BUILD_OUTPUT_LOG_MAX, from);

	if (n <= 0)
		return -1;
	struct text rest = {kept, (size_t)n};
	rest = text_after(rest, broken_start(rest));
	if (ftruncate(o->log, 0) < 0 || pwrite(o->log, rest.p, rest.len, 0) != (ssize_t)rest.len ||
		lseek(o->log, 0, SEEK_END) < 0)
		return -1;
	o->logged = rest.len;
	return 0;
}

/* A log that cannot be written (a build can fill the disk) ends, the build goes on. */
static void write_log(struct build_output *o, struct text t)
{
	auto_error struct error ignored = ERROR_INIT;

	if (o->log < 0)
		return;
	int r = file_write_all(o->log, t.p, t.len, &ignored);
	o->logged += t.len;
	if (r == 0 && o->logged > BUILD_OUTPUT_LOG_MAX + LOG_SLACK)
		r = cut_log(o);
	if (r < 0)
		close(TAKE_FD(o->log));
}

static void keep_tail(struct build_output *o, struct text t)
{
	if (o->tail.len + t.len > o->tail.max) {
		size_t drop = o->tail.len - BUILD_OUTPUT_BYTES;
		memmove(o->tail.data, o->tail.data + drop, BUILD_OUTPUT_BYTES);
		o->tail.len = BUILD_OUTPUT_BYTES;
		o->tail.data[o->tail.len] = '\0';
	}
	str_add(&o->tail, t.p, t.len);
}

/* ---- What leaves ---- */

static void flush(struct build_output *o)
{
	struct text t = {str_text(&o->out), o->out.len};

	if (t.len == 0)
		return;
	keep_tail(o, t);
	write_log(o, t);
	if (o->show)
		o->show(o->data, t);
	str_reset(&o->out);
}

static bool is_plain(struct text t)
{
	unsigned odd = 0;

	for (size_t i = 0; i < t.len; i++)
		odd |= (unsigned)((unsigned char)(t.p[i] - 0x20) > 0x7e - 0x20);
	return !odd;
}

/* TAB is the only control character that is shown as it is. */
static void sanitise(struct text line, struct str *ret)
{
	struct text part;
	bool first = true;

	while (text_split(&line, '\t', &part)) {
		if (!first)
			str_add_char(ret, '\t');
		text_escape(ret, part, part.len);
		first = false;
	}
}

/* A part of a line, whole characters. */
static void pass_on(struct build_output *o, struct text raw)
{
	AUTO(str) shown = STR_INIT(SHOWN_MAX);
	struct text t = raw;

	if (!is_plain(raw)) {
		sanitise(raw, &shown);
		t = (struct text){str_text(&shown), shown.len};
	}
	if (o->out.len + t.len > o->out.max)
		flush(o);
	str_add(&o->out, t.p, t.len);
}

static void end_line(struct build_output *o)
{
	struct text line = {str_text(&o->line), o->line.len};

	o->began = o->began || text_starts_nocase(line, "step 1/");
	pass_on(o, line);
	str_reset(&o->line);
	if (o->out.len == o->out.max)
		flush(o);
	str_add_char(&o->out, '\n');
}

/* A line that is too long leaves in pieces. */
static void cut_line(struct build_output *o)
{
	size_t n = utf8_cut((struct text){o->line.data, o->line.len}, PIECE_MAX - 3);
	size_t rest = o->line.len - n;

	pass_on(o, (struct text){o->line.data, n});
	memmove(o->line.data, o->line.data + n, rest);
	o->line.len = rest;
}

/* Bytes before the first end of a line. */
static size_t to_end_of_line(struct text t)
{
	const char *lf = memchr(t.p, '\n', t.len);
	size_t n = lf ? (size_t)(lf - t.p) : t.len;
	const char *cr = memchr(t.p, '\r', n);

	return cr ? (size_t)(cr - t.p) : n;
}

static struct text take_part(struct build_output *o, struct text bytes)
{
	struct text start = bytes;

	if (start.len > PIECE_MAX - o->line.len)
		start.len = PIECE_MAX - o->line.len;
	size_t n = to_end_of_line(start);
	if (n > 0)
		o->cr = false;
	str_add(&o->line, bytes.p, n);
	if (o->line.len == PIECE_MAX)
		cut_line(o);
	return text_after(bytes, n);
}

void build_output_take(struct build_output *o, struct text bytes)
{
	while (bytes.len > 0) {
		char c = bytes.p[0];
		if (c != '\n' && c != '\r') {
			bytes = take_part(o, bytes);
			continue;
		}
		if (!(c == '\n' && o->cr))
			end_line(o);
		o->cr = c == '\r';
		bytes = text_after(bytes, 1);
	}
	flush(o);
}

void build_output_end(struct build_output *o)
{
	if (o->line.len > 0)
		end_line(o);
	flush(o);
	if (o->log >= 0 && o->logged > BUILD_OUTPUT_LOG_MAX && cut_log(o) < 0)
		close(TAKE_FD(o->log));
}

struct text build_output_last_lines(const struct build_output *o)
{
	struct text t = {str_text(&o->tail), o->tail.len};

	if (t.len > 0 && t.p[t.len - 1] == '\n')
		t.len--;
	size_t from = t.len;
	for (unsigned lines = 0; from > 0; from--)
		if (t.p[from - 1] == '\n' && ++lines == BUILD_OUTPUT_LINES)
			break;
	t = text_after(t, from);
	if (t.len > BUILD_OUTPUT_BYTES)
		t = text_after(t, t.len - BUILD_OUTPUT_BYTES);
	while (t.len > 0 && ((unsigned char)t.p[0] & 0xc0) == 0x80)
		t = text_after(t, 1);
	return t;
}

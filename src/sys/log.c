#include "sys/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "sys/clock.h"

enum {
	LINE_BYTES = 2048, /* with its end */
	TEXT_BYTES = 4096, /* looked at, before escaping */
	REPEAT_MAX = 5,
	REPEAT_MS = 10000,
	REMEMBERED = 32,
};

static struct {
	const char *program;
	enum log_level threshold;
	int fd;
	unsigned long left_out; /* since the last line that was written */
} state = {"cloop", LOG_LEVEL_WARNING, STDERR_FILENO, 0};

/* Texts written lately; the one that began longest ago is forgotten first. */
static struct repeat {
	uint64_t hash;
	int64_t since_ms;
	unsigned count;
} repeats[REMEMBERED];

void log_open(const char *program, enum log_level threshold)
{
	state.program = program;
	state.threshold = threshold;
}

void log_set_fd(int fd)
{
	state.fd = fd;
}

/* FNV-1a; two texts with one hash share their limit, which harms nobody. */
static uint64_t hash_of(const char *text)
{
	uint64_t h = 0xcbf29ce484222325;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3;
	return h;
}

static bool allowed(const char *text, int64_t now_ms)
{
	uint64_t hash = hash_of(text);
	struct repeat *oldest = repeats;

	for (struct repeat *r = repeats; r < repeats + REMEMBERED; r++) {
		if (r->count > 0 && r->hash == hash && now_ms - r->since_ms < REPEAT_MS)
			return r->count++ < REPEAT_MAX;
		if (r->since_ms < oldest->since_ms)
			oldest = r;
	}
	*oldest = (struct repeat){hash, now_ms, 1};
	return true;
}

static void write_line(const char *level, const char *text)
{
	AUTO(str) line = STR_INIT(8 * TEXT_BYTES);

	str_addf(&line, "%s: %s: ", state.program, level);
	if (state.left_out > 0)
		str_addf(&line, "(%lu repeated lines left out) ", state.left_out);
	text_escape(&line, text_of(text), TEXT_BYTES);
	line.len = utf8_cut((struct text){str_text(&line), line.len}, LINE_BYTES - 1);
	line.data[line.len++] = '\n';
	state.left_out = 0;
	while (write(state.fd, line.data, line.len) < 0 && errno == EINTR)
		continue;
}

static void printf_like(2, 0) log_va(enum log_level level, const char *fmt, va_list ap)
{
	static const char *const words[] = {"error", "warning", "info", "debug"};

	if (state.fd < 0 || level > state.threshold)
		return;
	auto_free char *text = mem_vprintf(fmt, ap);
	if (allowed(text, clock_boottime_ms()))
		write_line(words[level], text);
	else
		state.left_out++;
}

#define LOG_FUNCTION(name, level) \
	void name(const char *fmt, ...) \
	{ \
		va_list ap; \
\
		va_start(ap, fmt); \
		log_va(level, fmt, ap); \
		va_end(ap); \
	}

LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_warning, LOG_LEVEL_WARNING)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)

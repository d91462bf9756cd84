/* A run's output for a caller (include/cloop/stream.h). */
#include <stdlib.h>

#include "base/mem.h"
#include "lib/run.h"
#include "run/follow.h"
#include "run/import.h"

struct cloop_stream {
	struct lib_run run;
	struct follow follow;
	struct cloop_log_line line; /* the one that was given last */
};

int cloop_container_stream(struct cloop_container *container, const char *handle,
	uint64_t since_seq, struct cloop_stream **stream, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	struct lib_call call;

	if (LIB_MISSING(e, container, stream))
		return -1;
	struct cloop_stream *s = mem_alloc(sizeof(*s));
	s->run = LIB_RUN_INIT;
	s->follow = (struct follow){.home = &s->run.home,
		.run = &s->run.dir,
		.since_seq = since_seq,
		.until_end = true,
		.supervisor = -1,
		.signals = -1};
	lib_call_begin(container, NULL, &call);
	if (lib_run_open(&call, handle, &s->run, e) < 0) {
		cloop_stream_free(s);
		return -1;
	}
	*stream = s;
	return 0;
}

void cloop_stream_free(struct cloop_stream *stream)
{
	if (!stream)
		return;
	follow_done(&stream->follow);
	lib_run_done(&stream->run);
	free(stream);
}

/* False: it is not for callers. */
static bool show(const struct log_frame *f, struct cloop_log_line *ret)
{
	static const enum cloop_log_stream streams[LOG_STREAM_COUNT] = {
		[LOG_STDOUT] = CLOOP_LOG_STDOUT,
		[LOG_COMBINED] = CLOOP_LOG_STDOUT,
		[LOG_STDERR] = CLOOP_LOG_STDERR,
		[LOG_NOTE] = CLOOP_LOG_NOTE,
		[LOG_SETUP] = CLOOP_LOG_NOTE,
		[LOG_GAP] = CLOOP_LOG_GAP,
	};
	bool gap = f->stream == LOG_GAP;

	if (f->stream == LOG_END || f->stream >= LOG_STREAM_COUNT)
		return false;
	*ret = (struct cloop_log_line){
		.seq = f->seq,
		.time_ns = f->time_ns,
		.stream = streams[f->stream],
		.data = gap ? "" : f->data.p,
		.size = gap ? 0 : f->data.len,
		.lost_bytes = gap ? log_gap_lost(f) : 0,
	};
	return true;
}

int cloop_stream_next(struct cloop_stream *stream, const struct cloop_cancel *cancel,
	const struct cloop_log_line **line, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	LIB_GIVE_UP(cancel);
	struct log_frame frame;
	int r;

	if (LIB_MISSING(e, stream, line))
		return -1;
	do {
		if (lib_cancel_check(cancel, e) < 0)
			return -1;
		r = follow_next(&stream->follow, &frame, e);
	} while (r == 0 && !show(&frame, &stream->line));
	if (r == 0)
		*line = &stream->line;
	else if (r > 0)
		import_run(&stream->run.home, &stream->run.dir);
	return r;
}

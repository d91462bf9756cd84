#include "executor/runlog/log-format.h"

#include <assert.h>
#include <endian.h>
#include <libdeflate.h>

#include "base/enum-text.h"

/* Offsets in a frame's header. */
enum {
	AT_LENGTH = 0,
	AT_STREAM = 4,
	AT_FLAGS = 5,
	AT_RESERVED = 6,
	AT_SEQ = 8,
	AT_TIME = 16,
	AT_CRC = 24
};

static const char magic[8] = {'c', 'l', 'o', 'o', 'p', 'L', 'G', '1'};

static const char *const stream_names[] = {
	[LOG_STDOUT] = "stdout",
	[LOG_STDERR] = "stderr",
	[LOG_COMBINED] = "combined",
	[LOG_NOTE] = "note",
	[LOG_GAP] = "gap",
	[LOG_END] = "end",
	[LOG_SETUP] = "setup",
};
ENUM_TEXT(log_stream, stream_names, LOG_STREAM_COUNT)

static const char *const found_names[] = {
	[LOG_FOUND] = "found",
	[LOG_CLEAN] = "clean",
	[LOG_TORN] = "torn",
	[LOG_CORRUPT] = "corrupt",
};
ENUM_TEXT(log_found, found_names, LOG_FOUND_COUNT)

static void put_u32(char *to, uint32_t v)
{
	uint32_t le = htole32(v);

	memcpy(to, &le, sizeof(le));
}

static void put_u64(char *to, uint64_t v)
{
	uint64_t le = htole64(v);

	memcpy(to, &le, sizeof(le));
}

static uint32_t get_u32(const char *from)
{
	uint32_t le;

	memcpy(&le, from, sizeof(le));
	return le32toh(le);
}

static uint64_t get_u64(const char *from)
{
	uint64_t le;

	memcpy(&le, from, sizeof(le));
	return le64toh(le);
}

static uint32_t crc_add(uint32_t crc, struct text t)
{
	return t.len ? libdeflate_crc32(crc, t.p, t.len) : crc;
}

void log_header_encode(const struct log_header *h, char out[LOG_HEADER_SIZE])
{
	memcpy(out, magic, sizeof(magic));
	put_u64(out + 8, h->first_seq);
	put_u64(out + 16, h->bytes_before);
	put_u64(out + 24, (uint64_t)h->created_ns);
}

void log_frame_encode(
	const struct log_frame *f, const struct text *parts, size_t n, char out[LOG_FRAME_SIZE])
{
	size_t length = 0;

	for (size_t i = 0; i < n; i++)
		length += parts[i].len;
	assert(length <= LOG_PAYLOAD_MAX);
	memset(out, 0, LOG_FRAME_SIZE);
	put_u32(out + AT_LENGTH, (uint32_t)length);
	out[AT_STREAM] = (char)f->stream;
	put_u64(out + AT_SEQ, f->seq);
	put_u64(out + AT_TIME, (uint64_t)f->time_ns);
	uint32_t crc = crc_add(0, (struct text){out, AT_CRC});
	for (size_t i = 0; i < n; i++)
		crc = crc_add(crc, parts[i]);
	put_u32(out + AT_CRC, crc);
}

void log_gap_encode(uint64_t lost, char out[LOG_GAP_SIZE])
{
	put_u64(out, lost);
}

uint64_t log_gap_lost(const struct log_frame *f)
{
	return f->data.len == LOG_GAP_SIZE ? get_u64(f->data.p) : LOG_LOST_UNKNOWN;
}

enum log_found log_header_decode(struct text segment, struct log_header *ret)
{
	if (segment.len < LOG_HEADER_SIZE)
		return LOG_TORN;
	if (memcmp(segment.p, magic, sizeof(magic)) != 0 || get_u64(segment.p + 8) == 0)
		return LOG_CORRUPT;
	*ret = (struct log_header){
		.first_seq = get_u64(segment.p + 8),
		.bytes_before = get_u64(segment.p + 16),
		.created_ns = (int64_t)get_u64(segment.p + 24),
	};
	return LOG_FOUND;
}

static bool length_fits(enum log_stream stream, size_t length)
{
	switch (stream) {
	case LOG_END:
		return length == 0;
	case LOG_GAP:
		return length == LOG_GAP_SIZE;
	case LOG_NOTE:
		return length >= 1 && length <= LOG_NOTE_MAX;
	default:
		return length >= 1;
	}
}

enum log_found log_frame_decode(
	struct text rest, uint64_t expected_seq, struct log_frame *ret, size_t *ret_size)
{
	if (rest.len == 0)
		return LOG_CLEAN;
	if (rest.len < LOG_FRAME_SIZE)
		return LOG_TORN;
	const char *p = rest.p;
	size_t length = get_u32(p + AT_LENGTH);
	if (length > LOG_PAYLOAD_MAX)
		return LOG_CORRUPT;
	if (rest.len - LOG_FRAME_SIZE < length)
		return LOG_TORN;
	struct text payload = {p + LOG_FRAME_SIZE, length};
	unsigned char stream = (unsigned char)p[AT_STREAM];
	if (crc_add(crc_add(0, (struct text){p, AT_CRC}), payload) != get_u32(p + AT_CRC) ||
		p[AT_FLAGS] != 0 || p[AT_RESERVED] != 0 || p[AT_RESERVED + 1] != 0 || stream < 1 ||
		stream >= LOG_STREAM_COUNT || get_u64(p + AT_SEQ) != expected_seq ||
		!length_fits((enum log_stream)stream, length))
		return LOG_CORRUPT;
	*ret = (struct log_frame){
		.seq = expected_seq,
		.time_ns = (int64_t)get_u64(p + AT_TIME),
		.stream = (enum log_stream)stream,
		.data = payload,
	};
	*ret_size = LOG_FRAME_SIZE + length;
	return LOG_FOUND;
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Do segments[from…] exceed the cap? */
static bool exceed(const struct log_segment *segments, size_t from, size_t n, uint64_t cap_bytes)
{
	uint64_t sum = 0;

	for (size_t i = n; i > from; i--)
		sum = add_saturated(sum, segments[i - 1].file_bytes);
	return sum > cap_bytes;
}

size_t log_retention(
	const struct log_segment *segments, size_t n, uint64_t cap_bytes, uint64_t *ret_dropped)
{
	size_t drop = 0;

	*ret_dropped = 0;
	while (n - drop > 1 && exceed(segments, drop, n, cap_bytes)) {
		*ret_dropped = add_saturated(*ret_dropped, segments[drop].payload_bytes);
		drop++;
	}
	return drop;
}

uint64_t log_segment_limit(uint64_t cap_bytes)
{
	const uint64_t least = 1 << 20;

	return cap_bytes / 16 > least ? cap_bytes / 16 : least;
}

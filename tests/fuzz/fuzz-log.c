/*
 * The log's decoder on any bytes, as they are and with mended checksums: what it takes encodes to
 * the very same bytes; a segment that is cut anywhere gives the same frames as far as they go, and
 * no other; JSON of a frame is JSON.
 */
#include <assert.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/json.h"
#include "executor/runlog/log-format.h"
#include "executor/runlog/log-json.h"
#include "log-mend.h"

static void check_frame(const struct log_frame *f, struct text bytes)
{
	char header[LOG_FRAME_SIZE];

	log_frame_encode(f, &f->data, 1, header);
	assert(bytes.len == sizeof(header) + f->data.len);
	assert(memcmp(bytes.p, header, sizeof(header)) == 0);
	auto_json *json = log_json_frame("c-0123456789ab", f);
	auto_free char *text = json_write(json);
	assert(text[0] == '{');
}

/* Decodes a copy that ends exactly where memory does; returns the good bytes. */
static size_t decode(struct text segment, size_t size, enum log_found *ret)
{
	auto_free char *copy = mem_strndup(segment.p, size);
	struct text t = {copy, size};
	struct log_header h;
	struct log_frame f;
	size_t at = LOG_HEADER_SIZE, frame_size;

	*ret = log_header_decode(t, &h);
	if (*ret != LOG_FOUND)
		return 0;
	char header[LOG_HEADER_SIZE];
	log_header_encode(&h, header);
	assert(memcmp(header, copy, sizeof(header)) == 0);
	for (uint64_t seq = h.first_seq;; seq++) {
		*ret = log_frame_decode(text_after(t, at), seq, &f, &frame_size);
		if (*ret != LOG_FOUND)
			return at;
		check_frame(&f, (struct text){copy + at, frame_size});
		at += frame_size;
	}
}

static void check(struct text segment)
{
	size_t size = segment.len;
	enum log_found found, cut_found;

	size_t good = decode(segment, size, &found);
	assert(found != LOG_FOUND && good <= size);
	assert(found != LOG_CLEAN || good == size);
	size_t step = size / 64 + 1;
	for (size_t cut = 0; cut < size; cut += step) {
		size_t cut_good = decode(segment, cut, &cut_found);
		assert(cut_good <= good && cut_good <= cut);
		assert(cut_found != LOG_CLEAN || cut_good == cut);
		assert(cut < good ? cut_found != LOG_CORRUPT : true);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *mended = mem_strndup((const char *)data, size);

	check((struct text){(const char *)data, size});
	log_mend(mended, size, 0);
	check((struct text){mended, size});
	return 0;
}

#include "executor/runlog/log-json.h"

#include "base/base64.h"
#include "sys/clock.h"

static json_t *base64(struct text bytes)
{
	struct secret digits;

	base64_encode(bytes, &digits);
	json_t *text = json_stringn(digits.p, digits.len);
	secret_done(&digits);
	return text;
}

json_t *log_json_frame(const char *handle, const struct log_frame *f)
{
	json_t *out = json_object();
	char time[CLOCK_TEXT_SIZE];

	clock_format_ns(f->time_ns, time);
	json_object_set_new(out, "handle_id", json_string(handle));
	json_object_set_new(out, "seq", json_integer((json_int_t)f->seq));
	json_object_set_new(out, "stream", json_string(log_stream_text(f->stream)));
	json_object_set_new(out, "time", json_string(time));
	if (f->stream == LOG_END)
		return out;
	if (f->stream == LOG_GAP) {
		uint64_t lost = log_gap_lost(f);
		json_object_set_new(out, "lost_bytes",
			lost == LOG_LOST_UNKNOWN ? json_null() : json_integer((json_int_t)lost));
	} else if (utf8_valid(f->data)) {
		json_object_set_new(
			out, "text", json_stringn(f->data.p ? f->data.p : "", f->data.len));
	} else {
		json_object_set_new(out, "data_b64", base64(f->data));
	}
	return out;
}

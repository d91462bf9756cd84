/*
 * The frames of the control socket: what is decoded encodes to a frame that decodes to the same
 * value; a frame that is cut anywhere asks for more and takes nothing; how the bytes arrive does
 * not matter.
 */
#include <assert.h>
#include <string.h>

#include "executor/rundir/control.h"
#include "json-frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(json_t *value)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *again = NULL;
	AUTO(str) out = STR_INIT(8 * CONTROL_MESSAGE_MAX);

	control_encode(&out, value);
	size_t whole = out.len;
	if (whole > CONTROL_HEADER + CONTROL_MESSAGE_MAX)
		return; /* escapes made it longer than what may be sent */
	out.len = whole - 1;
	int r = control_decode(&out, &again, &err);
	assert(r == 0 && out.len == whole - 1);
	out.len = whole;
	r = control_decode(&out, &again, &err);
	assert(r == 1 && out.len == 0 && json_equal(value, again));
}

/* All that is complete in `in`; the number of messages, or -1. */
static int drain(struct str *in, int *count)
{
	auto_error struct error err = ERROR_INIT;

	for (;;) {
		auto_json *value = NULL;
		size_t before = in->len;
		int r = control_decode(in, &value, &err);
		assert((r == 1) == (value != NULL));
		assert(r == 1 ? in->len < before : in->len == before);
		if (r <= 0)
			return r;
		(*count)++;
		check_round_trip(value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(str) once = STR_INIT(1 << 20);
	AUTO(str) parts = STR_INIT(1 << 20);
	int n = 0, m = 0, r = 0;

	if (str_add(&once, data, size) < 0)
		return 0;
	int whole = drain(&once, &n);
	size_t step = size / 8 + 1;
	for (size_t at = 0; at < size && r == 0; at += step) {
		assert(str_add(&parts, data + at, size - at < step ? size - at : step) == 0);
		r = drain(&parts, &m);
	}
	assert(r == whole && n == m);
	return 0;
}

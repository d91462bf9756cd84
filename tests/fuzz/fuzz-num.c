/* Numbers, sizes, durations and times: what is taken says the same when it is written again. */
#include <assert.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/num.h"
#include "sys/clock.h"

static bool digits_only(struct text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (!ascii_digit(t.p[i]))
			return false;
	return t.len > 0;
}

static void check_integer(struct text t)
{
	uint64_t n = 0, wide = 0;
	enum num_result r = num_parse(t, 1000, &n), w = num_parse(t, UINT64_MAX, &wide);

	if (w == NUM_OK) {
		auto_free char *again = mem_printf("%llu", (unsigned long long)wide);
		assert(text_is(t, again));
	}
	assert((r == NUM_OK || r == NUM_TOO_LARGE) == (w == NUM_OK || w == NUM_TOO_LARGE));
	assert(r != NUM_OK || (n == wide && n <= 1000));
	assert(r != NUM_TOO_LARGE || (n == 1000 && wide > 1000));
	assert((r == NUM_EMPTY) == (t.len == 0));
	assert(w != NUM_TOO_LARGE || (digits_only(t) && t.len >= 20));
}

static void check_size(struct text t)
{
	enum { MAX_MB = 1 << 20 };
	uint64_t n = 0, bare = 0;
	enum num_result r = num_parse_size_mb(t, MAX_MB, &n);

	if (r != NUM_OK && r != NUM_TOO_LARGE)
		return;
	assert(n <= MAX_MB && (r == NUM_OK || n == MAX_MB));
	bool unit = !ascii_digit(t.p[t.len - 1]);
	struct text digits = {t.p, t.len - (unit ? 1 : 0)};
	assert(digits_only(digits));
	/* Never 0 unless it says 0. */
	assert((n == 0) == text_is(digits, "0"));
	assert(num_parse(digits, UINT64_MAX, &bare) == NUM_OK || r == NUM_TOO_LARGE);
}

static void check_millis(struct text t)
{
	uint64_t n = 0, whole = 0;

	if (num_parse_millis(t, UINT64_MAX, &n) != NUM_OK)
		return;
	struct text rest = t, part;
	text_split(&rest, '.', &part);
	assert(num_parse(part, UINT64_MAX, &whole) == NUM_OK);
	assert(n >= whole * 1000 && n - whole * 1000 <= 1000);
	assert(rest.p || n == whole * 1000);
}

static void check_time(struct text t)
{
	char again[CLOCK_TEXT_SIZE];
	int64_t ns, back;

	if (!num_parse_rfc3339(t, &ns))
		return;
	clock_format_ns(ns, again);
	assert(ns >= 0 && num_parse_rfc3339(text_of(again), &back) && back == ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text t = {(const char *)data, size};
	uint64_t ms;

	check_integer(t);
	check_size(t);
	check_millis(t);
	check_time(t);
	assert(num_parse_duration_ms(t, &ms) != NUM_OK || ms <= UINT64_C(366) * 86400000);
	return 0;
}

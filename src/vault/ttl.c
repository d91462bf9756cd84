#include "vault/ttl.h"

#include "base/num.h"

static const struct unit {
	char letter;
	int64_t seconds;
} units[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};

/* Seconds are counted up to here: what is more is out of range, whatever follows. */
enum { ENOUGH = TTL_LARGEST + 1 };

/* Takes one part off t and says the index of its unit; -1: it is none. */
static int take_part(struct text *t, int64_t *seconds)
{
	size_t digits = 0;
	uint64_t n;

	while (digits < t->len && ascii_digit(t->p[digits]))
		digits++;
	if (digits == t->len)
		return -1;
	enum num_result r = num_parse((struct text){t->p, digits}, ENOUGH, &n);
	if (r != NUM_OK && r != NUM_TOO_LARGE)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (units[i].letter == t->p[digits]) {
			*seconds += (int64_t)n * units[i].seconds;
			*t = text_after(*t, digits + 1);
			return (int)i;
		}
	return -1;
}

int ttl_parse(struct text t, int64_t *ret_seconds, struct error *err)
{
	struct text rest = t;
	int64_t seconds = 0;

	for (int last = -1, unit; last < 0 || rest.len > 0; last = unit) {
		unit = take_part(&rest, &seconds);
		if (unit <= last)
			return error_set(err, ERROR_TTL_INVALID, "%s is no duration", quoted(t));
	}
	if (seconds < TTL_LEAST || seconds > TTL_LARGEST)
		return error_set(err, ERROR_TTL_OUT_OF_RANGE,
			"%s is not between 60 seconds and 365 days", quoted(t));
	*ret_seconds = seconds;
	return 0;
}

#include "schema/value.h"

#include <inttypes.h>

#include "base/num.h"

typedef unsigned __int128 wide;

/* empty and too_long, which every number can be. */
static enum problem_code measure(struct text *t)
{
	*t = text_trim(*t);
	if (t->len == 0)
		return PROBLEM_EMPTY;
	return t->len > VALUE_NUMBER_MAX ? PROBLEM_TOO_LONG : PROBLEM_NONE;
}

static enum problem_code code_of(enum num_result result, enum problem_code malformed)
{
	switch (result) {
	case NUM_OK:
		return PROBLEM_NONE;
	case NUM_EMPTY:
		return PROBLEM_EMPTY;
	case NUM_NEGATIVE:
		return PROBLEM_NEGATIVE;
	case NUM_TOO_LARGE:
		return PROBLEM_TOO_LARGE;
	case NUM_MALFORMED:
	default:
		return malformed;
	}
}

enum problem_code value_size(struct text t, uint64_t max_mb, uint64_t *ret_mb)
{
	enum problem_code fault = measure(&t);

	return fault ? fault : code_of(num_parse_size_mb(t, max_mb, ret_mb), PROBLEM_NOT_A_SIZE);
}

enum problem_code value_cpu(struct text t, uint64_t max_millis, uint64_t *ret_millis)
{
	enum problem_code fault = measure(&t);

	return fault ? fault
		     : code_of(num_parse_millis(t, max_millis, ret_millis), PROBLEM_NOT_A_NUMBER);
}

enum problem_code value_integer(struct text t, uint64_t max, uint64_t *ret)
{
	enum problem_code fault = measure(&t);

	return fault ? fault : code_of(num_parse(t, max, ret), PROBLEM_NOT_A_NUMBER);
}

enum problem_code value_signed(struct text t, int64_t *ret)
{
	enum problem_code fault = measure(&t);
	uint64_t n;

	if (fault)
		return fault;
	bool negative = t.p[0] == '-';
	enum num_result r = num_parse(negative ? text_after(t, 1) : t, INT64_MAX, &n);
	if (r != NUM_OK && r != NUM_TOO_LARGE)
		return PROBLEM_NOT_A_NUMBER;
	*ret = negative ? -(int64_t)n : (int64_t)n;
	return PROBLEM_NONE;
}

/* "12.50 Gib" taken apart. */
struct loose_size {
	wide digits;       /* all of them, the point left out */
	unsigned decimals; /* of them behind the point */
	bool fraction;
	char unit; /* k m g t */
};

static bool take_digits(struct text *t, struct loose_size *s)
{
	size_t n = 0;

	while (t->len > 0 && ascii_digit(t->p[0])) {
		s->digits = s->digits * 10 + (wide)(t->p[0] - '0');
		s->decimals += s->fraction;
		*t = text_after(*t, 1);
		n++;
	}
	return n > 0;
}

/* The text is at most VALUE_NUMBER_MAX bytes, so that its digits fit into 128 bits. */
static bool take_apart(struct text t, struct loose_size *s)
{
	if (!take_digits(&t, s))
		return false;
	if (t.len > 0 && t.p[0] == '.') {
		s->fraction = true;
		t = text_after(t, 1);
		if (!take_digits(&t, s))
			return false;
	}
	t = text_trim(t);
	if (t.len == 0 || t.len > 3 || !strchr("kmgt", ascii_to_lower(t.p[0])) || t.p[0] == '\0')
		return false;
	s->unit = ascii_to_lower(t.p[0]);
	t = text_after(t, 1);
	return t.len == 0 || text_is_nocase(t, "b") || text_is_nocase(t, "i") ||
	       text_is_nocase(t, "ib");
}

static bool add_number(struct str *out, wide n, char unit)
{
	if (n > UINT64_MAX)
		return false;
	str_addf(out, "%" PRIu64 "%c", (uint64_t)n, unit);
	return true;
}

const char *value_fault_text(enum problem_code code)
{
	switch (code) {
	case PROBLEM_EMPTY:
		return "is empty";
	case PROBLEM_TOO_LONG:
		return "is too long for a number";
	case PROBLEM_NEGATIVE:
		return "is negative";
	case PROBLEM_NOT_A_SIZE:
		return "is not a size";
	case PROBLEM_TOO_LARGE:
		return "is too large";
	case PROBLEM_BELOW_MINIMUM:
		return "is too small";
	default:
		return "is not a number";
	}
}

bool value_size_advice(struct text t, struct str *out)
{
	struct loose_size s = {0};
	wide divisor = 1;

	if (measure(&t) != PROBLEM_NONE || !take_apart(t, &s))
		return false;
	if (!s.fraction)
		return add_number(out, s.digits, s.unit);
	for (unsigned i = 0; i < s.decimals; i++)
		divisor *= 10;
	/* At most 30 digits: times 2^20 they fit. */
	wide mb = s.digits;
	if (s.unit == 'k')
		divisor *= 1024;
	else if (s.unit != 'm')
		mb *= s.unit == 'g' ? 1024 : 1024 * 1024;
	return add_number(out, mb / divisor + (mb % divisor ? 1 : 0), 'm');
}

const char *value_boolean_advice(struct text t)
{
	static const char *const yes[] = {"true", "yes", "on", "y", "1"};
	static const char *const no[] = {"false", "no", "off", "n", "0"};

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (text_is_nocase(t, yes[i]))
			return "true";
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (text_is_nocase(t, no[i]))
			return "false";
	return NULL;
}

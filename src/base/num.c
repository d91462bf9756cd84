#include "base/num.h"

static bool digits_ok(struct text t)
{
	if (t.len == 0 || (t.len > 1 && t.p[0] == '0'))
		return false;
	for (size_t i = 0; i < t.len; i++)
		if (!ascii_digit(t.p[i]))
			return false;
	return true;
}

/* Digits -> number; false when it does not fit. */
static bool value_of(struct text t, uint64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < t.len; i++)
		if (__builtin_mul_overflow(*ret, (uint64_t)10, ret) ||
			__builtin_add_overflow(*ret, (uint64_t)(t.p[i] - '0'), ret))
			return false;
	return true;
}

static enum num_result too_large(uint64_t max, uint64_t *ret)
{
	*ret = max;
	return NUM_TOO_LARGE;
}

static enum num_result bounded(uint64_t n, uint64_t max, uint64_t *ret)
{
	if (n > max)
		return too_large(max, ret);
	*ret = n;
	return NUM_OK;
}

typedef enum num_result parser(struct text t, uint64_t max, uint64_t *ret);

/* What a parser says of text it does not know: NUM_NEGATIVE if only the sign is at fault. */
static enum num_result refuse(parser *parse, struct text t)
{
	uint64_t ignored;

	if (t.len == 0)
		return NUM_EMPTY;
	if (t.p[0] != '-' || t.len == 1 || t.p[1] == '-')
		return NUM_MALFORMED;
	enum num_result r = parse(text_after(t, 1), UINT64_MAX, &ignored);
	return r == NUM_OK || r == NUM_TOO_LARGE ? NUM_NEGATIVE : NUM_MALFORMED;
}

enum num_result num_parse(struct text t, uint64_t max, uint64_t *ret)
{
	uint64_t n;

	if (!digits_ok(t))
		return refuse(num_parse, t);
	return value_of(t, &n) ? bounded(n, max, ret) : too_large(max, ret);
}

/* Thousandths of ".DIGITS", rounded half up; 0 < fraction gives at least 1 only in the caller. */
static uint64_t fraction_millis(struct text digits)
{
	uint64_t n = 0;

	for (size_t i = 0; i < 3; i++)
		n = n * 10 + (i < digits.len ? (uint64_t)(digits.p[i] - '0') : 0);
	return n + (digits.len > 3 && digits.p[3] >= '5' ? 1 : 0);
}

static bool any_nonzero(struct text digits)
{
	for (size_t i = 0; i < digits.len; i++)
		if (digits.p[i] != '0')
			return true;
	return false;
}

enum num_result num_parse_millis(struct text t, uint64_t max, uint64_t *ret)
{
	const char *point = t.len ? memchr(t.p, '.', t.len) : NULL;
	struct text whole = point ? (struct text){t.p, (size_t)(point - t.p)} : t;
	struct text fraction = point ? text_after(t, whole.len + 1) : (struct text){"0", 1};

	if (!digits_ok(whole) || fraction.len == 0)
		return refuse(num_parse_millis, t);
	for (size_t i = 0; i < fraction.len; i++)
		if (!ascii_digit(fraction.p[i]))
			return refuse(num_parse_millis, t);
	uint64_t n;
	if (!value_of(whole, &n) || __builtin_mul_overflow(n, (uint64_t)1000, &n) ||
		__builtin_add_overflow(n, fraction_millis(fraction), &n))
		return too_large(max, ret);
	if (n == 0 && any_nonzero(fraction))
		n = 1;
	return bounded(n, max, ret);
}

/* Binary exponent of a size unit, relative to bytes; -1 for none. */
static int unit_shift(char c)
{
	switch (ascii_to_lower(c)) {
	case 'b':
		return 0;
	case 'k':
		return 10;
	case 'm':
		return 20;
	case 'g':
		return 30;
	case 't':
		return 40;
	default:
		return -1;
	}
}

enum num_result num_parse_size_mb(struct text t, uint64_t max, uint64_t *ret)
{
	int shift = t.len ? unit_shift(t.p[t.len - 1]) : -1;
	struct text digits = shift >= 0 ? (struct text){t.p, t.len - 1} : t;

	if (!digits_ok(digits))
		return refuse(num_parse_size_mb, t);
	uint64_t n;
	if (!value_of(digits, &n))
		return too_large(max, ret);
	if (shift < 0 || shift == 20)
		return bounded(n, max, ret);
	if (shift > 20)
		return __builtin_mul_overflow(n, (uint64_t)1 << (shift - 20), &n)
			       ? too_large(max, ret)
			       : bounded(n, max, ret);
	uint64_t per_mb = (uint64_t)1 << (20 - shift);
	return bounded(n / per_mb + (n % per_mb ? 1 : 0), max, ret);
}

enum num_result num_parse_duration_ms(struct text t, uint64_t *ret)
{
	static const struct {
		const char *unit;
		uint64_t ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
	const uint64_t year = (uint64_t)366 * 86400000;
	size_t n = 0;

	while (n < t.len && ascii_digit(t.p[n]))
		n++;
	struct text digits = {t.p, n}, unit = text_after(t, n);
	if (!digits_ok(digits))
		return t.len ? NUM_MALFORMED : NUM_EMPTY;
	uint64_t factor = unit.len ? 0 : 1000;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (text_is(unit, units[i].unit))
			factor = units[i].ms;
	if (factor == 0)
		return NUM_MALFORMED;
	uint64_t value;
	if (!value_of(digits, &value) || __builtin_mul_overflow(value, factor, &value))
		return too_large(year, ret);
	return bounded(value, year, ret);
}

/* Reads exactly `width` digits at *t and moves on. */
static bool take_digits(struct text *t, size_t width, int64_t *ret)
{
	if (t->len < width)
		return false;
	*ret = 0;
	for (size_t i = 0; i < width; i++) {
		if (!ascii_digit(t->p[i]))
			return false;
		*ret = *ret * 10 + (t->p[i] - '0');
	}
	*t = text_after(*t, width);
	return true;
}

static bool take_byte(struct text *t, char c)
{
	if (t->len == 0 || t->p[0] != c)
		return false;
	*t = text_after(*t, 1);
	return true;
}

static bool leap(int64_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days from 1970-01-01 to the given date (proleptic Gregorian calendar). */
static int64_t days_from_epoch(int64_t year, int64_t month, int64_t day)
{
	static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
	int64_t y = year - 1;

	return y * 365 + y / 4 - y / 100 + y / 400 - 719162 + before[month - 1] +
	       (month > 2 && leap(year) ? 1 : 0) + day - 1;
}

static bool date_exists(int64_t year, int64_t month, int64_t day)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	if (month < 1 || month > 12 || day < 1)
		return false;
	return day <= days[month - 1] + (month == 2 && leap(year) ? 1 : 0);
}

static bool take_fraction_ns(struct text *t, int64_t *ret_ns)
{
	size_t n = 0;

	*ret_ns = 0;
	if (!take_byte(t, '.'))
		return true;
	while (n < t->len && ascii_digit(t->p[n]))
		n++;
	if (n < 1 || n > 9 || !take_digits(t, n, ret_ns))
		return false;
	for (; n < 9; n++)
		*ret_ns *= 10;
	return true;
}

static bool take_offset_s(struct text *t, int64_t *ret_s)
{
	int64_t hours, minutes;

	*ret_s = 0;
	if (take_byte(t, 'Z'))
		return true;
	bool west = take_byte(t, '-');
	if (!west && !take_byte(t, '+'))
		return false;
	if (!take_digits(t, 2, &hours) || !take_byte(t, ':') || !take_digits(t, 2, &minutes) ||
		hours > 23 || minutes > 59)
		return false;
	*ret_s = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
	return true;
}

bool num_parse_rfc3339(struct text t, int64_t *ret_ns)
{
	int64_t year, month, day, hour, minute, second, fraction, offset;

	if (!take_digits(&t, 4, &year) || !take_byte(&t, '-') || !take_digits(&t, 2, &month) ||
		!take_byte(&t, '-') || !take_digits(&t, 2, &day) || !take_byte(&t, 'T'))
		return false;
	if (!take_digits(&t, 2, &hour) || !take_byte(&t, ':') || !take_digits(&t, 2, &minute) ||
		!take_byte(&t, ':') || !take_digits(&t, 2, &second))
		return false;
	if (!take_fraction_ns(&t, &fraction) || !take_offset_s(&t, &offset) || t.len > 0)
		return false;
	if (!date_exists(year, month, day) || hour > 23 || minute > 59 || second > 59 ||
		year < 1970)
		return false;
	int64_t s = days_from_epoch(year, month, day) * 86400 + hour * 3600 + minute * 60 + second -
		    offset;
	if (s < 0)
		return false;
	if (__builtin_mul_overflow(s, INT64_C(1000000000), ret_ns) ||
		__builtin_add_overflow(*ret_ns, fraction, ret_ns))
		*ret_ns = INT64_MAX;
	return true;
}

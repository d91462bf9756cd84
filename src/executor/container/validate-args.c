/*
 * Extra arguments of the operator (container-driver.md §5.8): an allowlist. Whatever is not in the
 * table is refused by name, also harmless-looking flags: a later flag lifts a limit of an earlier
 * one, and several reach the host by a side door.
 */
#include "executor/container/validate.h"

#include "base/num.h"
#include "base/address.h"
#include "executor/container/hosts.h"

enum {
	ARGS_MAX = 32,
	ARG_BYTES_MAX = 1024,
	LABEL_VALUE_MAX = 256,
	STOP_TIMEOUT_MAX = 3600,
	TIME_ZONE_MAX = 64,
	TIME_ZONE_PARTS = 3,
	HOSTNAME_MAX = 63,
};

#define SHM_BYTES_MIN ((uint64_t)1 << 20)
#define SHM_BYTES_MAX ((uint64_t)64 << 30)
/* The largest number of 18 digits. */
#define ULIMIT_LARGEST 999999999999999999ULL
#define ULIMIT_UNLIMITED UINT64_MAX

enum once { REPEATABLE, ONCE, ONCE_PER_KEY };

struct argument {
	struct text whole;
	struct text name; /* before the first `=` */
	struct text value;
};

/* The part of a value before its first `=`: the NAME of a limit, the KEY of a label. */
static struct text key_of(struct text value)
{
	struct text rest = value, key = {"", 0};

	text_split(&rest, '=', &key);
	return key;
}

/* Number of bytes at t's start that are of [0-9]. */
static size_t digits_at(struct text t)
{
	size_t n = 0;

	while (n < t.len && ascii_digit(t.p[n]))
		n++;
	return n;
}

static bool dns_valid(struct text value)
{
	struct address a;

	return address_parse(value, &a) && !address_unspecified(&a) && !address_multicast(&a);
}

static bool dns_search_valid(struct text value)
{
	return text_is(value, ".") || hosts_name_valid(value);
}

/* [a-z][a-z0-9-]{0,31}(:[0-9]{1,3})? */
static bool dns_option_valid(struct text value)
{
	struct text rest = value, name = {"", 0};

	text_split(&rest, ':', &name);
	if (name.len < 1 || name.len > 32 || !ascii_lower(name.p[0]))
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (!ascii_lower(name.p[i]) && !ascii_digit(name.p[i]) && name.p[i] != '-')
			return false;
	return !rest.p || (rest.len >= 1 && rest.len <= 3 && digits_at(rest) == rest.len);
}

static bool ulimit_number(struct text t, uint64_t *ret)
{
	if (text_is(t, "-1")) {
		*ret = ULIMIT_UNLIMITED;
		return true;
	}
	return num_parse(t, ULIMIT_LARGEST, ret) == NUM_OK;
}

static bool ulimit_valid(struct text value)
{
	static const char *const names[] = {"core", "cpu", "data", "fsize", "locks", "memlock",
		"msgqueue", "nice", "nofile", "nproc", "rss", "rtprio", "rttime", "sigpending",
		"stack"};
	struct text name = key_of(value);
	uint64_t soft, hard;
	bool known = false;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		known |= text_is(name, names[i]);
	if (!known || name.len == value.len)
		return false;
	struct text rest = text_after(value, name.len + 1), soft_text = {"", 0};
	text_split(&rest, ':', &soft_text);
	if (!ulimit_number(soft_text, &soft))
		return false;
	return !rest.p || (ulimit_number(rest, &hard) && soft <= hard);
}

static bool label_valid(struct text value)
{
	auto_error struct error ignored = ERROR_INIT;
	struct text key = key_of(value);
	size_t length = key.len < value.len ? value.len - key.len - 1 : 0;

	return validate_label_key(key, &ignored) == 0 && length <= LABEL_VALUE_MAX;
}

/* Keys of ours, and keys by which an engine is steered. */
static bool label_reserved(struct text key)
{
	static const char *const prefixes[] = {"cloop.", "io.cloop.", "io.containers.",
		"io.podman.", "io.kubernetes.", "com.docker."};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (text_starts_nocase(key, prefixes[i]))
			return true;
	return text_is_nocase(key, "cloop");
}

/* [A-Z][A-Z_]{1,40} */
static bool capability_name(struct text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (!ascii_upper(t.p[i]) && (i == 0 || t.p[i] != '_'))
			return false;
	return t.len >= 2 && t.len <= 41;
}

static bool cap_drop_valid(struct text value)
{
	return capability_name(value) ||
	       (text_starts(value, "CAP_") && capability_name(text_after(value, 4)));
}

static bool hostname_valid(struct text value)
{
	return value.len >= 1 && value.len <= HOSTNAME_MAX && value.p[0] != '-' &&
	       value.p[value.len - 1] != '-' && text_all_word(value, "-");
}

/* [1-9][0-9]{0,9}[bkmg]? */
static bool shm_size_valid(struct text value)
{
	static const char units[] = "bkmg";
	size_t n = digits_at(value);
	struct text digits = {value.p, n}, unit = text_after(value, n);
	uint64_t number;

	if (n > 10 || unit.len > 1 || num_parse(digits, UINT32_MAX * 8ULL, &number) != NUM_OK)
		return false;
	const char *at = unit.len && unit.p[0] ? strchr(units, unit.p[0]) : units;
	if (!at)
		return false;
	uint64_t bytes = number << (10 * (at - units));
	return bytes >= SHM_BYTES_MIN && bytes <= SHM_BYTES_MAX;
}

static bool stop_timeout_valid(struct text value)
{
	uint64_t seconds;

	return num_parse(value, STOP_TIMEOUT_MAX, &seconds) == NUM_OK;
}

static bool tz_valid(struct text value)
{
	struct text rest = value, part;
	unsigned n = 0;

	if (value.len > TIME_ZONE_MAX)
		return false;
	for (; text_split(&rest, '/', &part); n++)
		if (part.len == 0 || !text_all_word(part, "_+-"))
			return false;
	return n <= TIME_ZONE_PARTS;
}

/* 0?[0-7]{3} */
static bool umask_valid(struct text value)
{
	if (value.len == 4 && value.p[0] == '0')
		value = text_after(value, 1);
	for (size_t i = 0; i < value.len; i++)
		if (value.p[i] < '0' || value.p[i] > '7')
			return false;
	return value.len == 3;
}

enum { ANY_ENGINE = -1 };

static const struct flag {
	const char *name;
	bool (*valid)(struct text value);
	enum once once;
	int engine; /* the only one that has it, or ANY_ENGINE */
} flags[] = {
	{"--dns", dns_valid, REPEATABLE, ANY_ENGINE},
	{"--dns-search", dns_search_valid, REPEATABLE, ANY_ENGINE},
	{"--dns-option", dns_option_valid, REPEATABLE, ANY_ENGINE},
	{"--ulimit", ulimit_valid, ONCE_PER_KEY, ANY_ENGINE},
	{"--label", label_valid, ONCE_PER_KEY, ANY_ENGINE},
	{"--cap-drop", cap_drop_valid, REPEATABLE, ANY_ENGINE},
	{"--hostname", hostname_valid, ONCE, ANY_ENGINE},
	{"--shm-size", shm_size_valid, ONCE, ANY_ENGINE},
	{"--stop-timeout", stop_timeout_valid, ONCE, ANY_ENGINE},
	{"--tz", tz_valid, ONCE, ENGINE_PODMAN},
	{"--umask", umask_valid, ONCE, ENGINE_PODMAN},
};

static const struct flag *find_flag(struct text name)
{
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (text_is(name, flags[i].name))
			return &flags[i];
	return NULL;
}

static struct argument split_argument(struct text whole)
{
	struct argument a = {.whole = whole, .value = whole};

	text_split(&a.value, '=', &a.name);
	return a;
}

static int refuse(struct text arg, enum error_code code, const char *why, struct error *err)
{
	return error_set(err, code, "extra argument %s %s", quoted(arg), why);
}

/* The shape of one word, before anything is known of its flag. */
static int check_shape(struct text t, struct error *err)
{
	if (text_blank(t))
		return refuse(t, ERROR_EXTRA_ARG_EMPTY, "is empty", err);
	if (text_has_control(t) || t.p[0] == ' ' || t.p[t.len - 1] == ' ')
		return refuse(t, ERROR_EXTRA_ARG_CONTROL,
			"has a control character, or a blank at an end", err);
	if (t.p[0] != '-' || text_is(t, "-") || text_is(t, "--"))
		return refuse(t, ERROR_EXTRA_ARG_NOT_FLAG, "is not a flag", err);
	if (t.p[1] != '-')
		return refuse(t, ERROR_EXTRA_ARG_SHORT, "is a short flag", err);
	return 0;
}

static int check_value(const struct flag *f, const struct argument *a, struct error *err)
{
	if (a->value.len == 0)
		return refuse(a->whole, ERROR_EXTRA_ARG_NEEDS_VALUE, "has no value", err);
	if (a->whole.len > ARG_BYTES_MAX || !f->valid(a->value))
		return refuse(a->whole, ERROR_EXTRA_ARG_BAD_VALUE, "has a value out of rule", err);
	if (f->valid == label_valid && label_reserved(key_of(a->value)))
		return refuse(
			a->whole, ERROR_EXTRA_ARG_RESERVED_LABEL, "sets a reserved label", err);
	return 0;
}

static bool repeats(const struct flag *f, const struct argument *a, struct text earlier)
{
	struct argument e = split_argument(earlier);

	if (f->once == REPEATABLE || !text_equal(a->name, e.name))
		return false;
	return f->once == ONCE || text_equal(key_of(a->value), key_of(e.value));
}

static int check_argument(const struct text *args, size_t i, int engine, struct error *err)
{
	struct argument a = split_argument(args[i]);

	if (check_shape(a.whole, err) < 0)
		return -1;
	const struct flag *f = find_flag(a.name);
	if (!f)
		return refuse(a.whole, ERROR_EXTRA_ARG_NOT_ALLOWED, "is not allowed", err);
	if (check_value(f, &a, err) < 0)
		return -1;
	for (size_t j = 0; j < i; j++)
		if (repeats(f, &a, args[j]))
			return refuse(a.whole, ERROR_EXTRA_ARG_DUPLICATE, "is a repetition", err);
	if (f->engine != ANY_ENGINE && engine >= 0 && engine != f->engine)
		return refuse(a.whole, ERROR_EXTRA_ARG_ENGINE, "is unknown to this engine", err);
	return 0;
}

int validate_extra_args(const struct text *args, size_t n, int engine, struct error *err)
{
	if (n > ARGS_MAX)
		return error_set(err, ERROR_EXTRA_ARGS_TOO_MANY,
			"there are more than %d extra arguments", ARGS_MAX);
	for (size_t i = 0; i < n; i++)
		if (check_argument(args, i, engine, err) < 0)
			return -1;
	return 0;
}

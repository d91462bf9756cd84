#include "base/scrub.h"

/* What is replaced: [from, to) of the text; to = 0: nothing. */
struct span {
	size_t from, to;
};
#define NO_SPAN ((struct span){0, 0})

enum { RANDOM_MIN = 32, EACH_MIN = 3, BEARER_MIN = 16, PEM_LINE_MAX = 64, OPTION_MAX = 64 };

static const struct {
	const char *prefix;
	size_t least; /* bytes of the word behind it */
} keys[] = {
	{"AGE-SECRET-KEY-1", 20},
	{"AIza", 30},
	{"AKIA", 16},
	{"ASIA", 16},
	{"ATATT3", 20},
	{"SG.", 30},
	{"dckr_pat_", 16},
	{"dop_v1_", 20},
	{"eyJ", 20},
	{"ghp_", 20},
	{"gho_", 20},
	{"ghu_", 20},
	{"ghs_", 20},
	{"ghr_", 20},
	{"github_pat_", 20},
	{"gldt-", 16},
	{"glpat-", 16},
	{"glrt-", 16},
	{"glsa_", 20},
	{"hf_", 20},
	{"hvs.", 20},
	{"npm_", 20},
	{"pypi-", 20},
	{"rk_live_", 16},
	{"sk_live_", 16},
	{"sk_test_", 16},
	{"sk-", 20},
	{"shpat_", 20},
	{"tskey-", 16},
	{"xoxa-", 10},
	{"xoxb-", 10},
	{"xoxe-", 10},
	{"xoxp-", 10},
	{"xoxr-", 10},
	{"xoxs-", 10},
	{"ya29.", 20},
};

/* The last word of the name of something secret. */
static const char *const names[] = {"password", "passwd", "passphrase", "pwd", "secret", "token",
	"api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "private_key",
	"private-key", "secret_key", "credential", "credentials"};

static bool is_word(char c)
{
	return ascii_word(c, "_-.+~=");
}

static char at(struct text t, size_t i)
{
	return i < t.len ? t.p[i] : '\0';
}

static size_t word_end(struct text t, size_t i)
{
	while (i < t.len && is_word(t.p[i]))
		i++;
	return i;
}

static bool begins_word(struct text t, size_t i)
{
	return i == 0 || !(ascii_alnum(t.p[i - 1]) || t.p[i - 1] == '_');
}

static bool marked(struct text t, size_t i)
{
	return text_starts(text_after(t, i), SCRUB_MARK);
}

static struct span match_key(struct text t, size_t i)
{
	if (!begins_word(t, i))
		return NO_SPAN;
	for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
		if (!text_starts(text_after(t, i), keys[k].prefix))
			continue;
		size_t end = word_end(t, i);
		if (end - i >= strlen(keys[k].prefix) + keys[k].least)
			return (struct span){i, end};
	}
	return NO_SPAN;
}

/* Capitals, small letters and digits, as random words have them and paths, hashes and ids do not.
 */
static bool mixed(struct text t, size_t from, size_t to)
{
	size_t upper = 0, lower = 0, digit = 0;

	for (size_t i = from; i < to; i++) {
		upper += ascii_upper(t.p[i]);
		lower += ascii_lower(t.p[i]);
		digit += ascii_digit(t.p[i]);
	}
	return upper >= EACH_MIN && lower >= EACH_MIN && digit >= EACH_MIN;
}

static struct span match_random(struct text t, size_t i)
{
	if (i > 0 && is_word(t.p[i - 1]))
		return NO_SPAN;
	size_t end = word_end(t, i);
	return end - i >= RANDOM_MIN && mixed(t, i, end) ? (struct span){i, end} : NO_SPAN;
}

/* scheme://USER:PASSWORD@host */
static struct span match_url(struct text t, size_t i)
{
	if (!text_starts(text_after(t, i), "://"))
		return NO_SPAN;
	size_t from = i + strlen("://"), found = 0;
	for (size_t j = from; j < t.len && !ascii_blank(t.p[j]) && !strchr("/?#\"'<>\\", t.p[j]);
		j++)
		if (t.p[j] == '@')
			found = j;
	return found > from && !marked(t, from) ? (struct span){from, found} : NO_SPAN;
}

static size_t skip(struct text t, size_t i, const char *set)
{
	while (i < t.len && t.p[i] != '\0' && strchr(set, t.p[i]))
		i++;
	return i;
}

static size_t line_end(struct text t, size_t i)
{
	while (i < t.len && t.p[i] != '\n' && t.p[i] != '\r')
		i++;
	return i;
}

/* `Authorization: SCHEME VALUE`, or `Bearer VALUE` alone. */
static struct span match_header(struct text t, size_t i)
{
	struct text rest = text_after(t, i);

	if (text_starts_nocase(rest, "authorization")) {
		size_t colon = skip(t, i + strlen("authorization"), "\"' ");
		size_t from = skip(t, colon + 1, "\"' ");
		if (strchr(":=", at(t, colon)) && at(t, colon) && from < t.len && !marked(t, from))
			return (struct span){from, line_end(t, from)};
	}
	if (begins_word(t, i) && text_starts_nocase(rest, "bearer ")) {
		size_t from = i + strlen("bearer "), end = word_end(t, from);
		if (end - from >= BEARER_MIN)
			return (struct span){from, end};
	}
	return NO_SPAN;
}

/* From behind a name to its value: `=` or `:`, with quotes and blanks around; or ` ` of an option.
 */
static size_t value_of(struct text t, size_t i, bool option)
{
	size_t separator = skip(t, i, "\"' ");

	if (at(t, separator) == '=' || at(t, separator) == ':')
		return skip(t, separator + 1, "\"' ");
	return option && at(t, i) == ' ' ? skip(t, i, "\"' ") : 0;
}

static bool is_option(struct text t, size_t i)
{
	for (size_t n = 0; n < OPTION_MAX && i > 0 && ascii_word(t.p[i - 1], "-_"); n++)
		i--;
	return at(t, i) == '-' && at(t, i + 1) == '-';
}

static struct span match_name(struct text t, size_t i)
{
	for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
		if (!text_starts_nocase(text_after(t, i), names[k]))
			continue;
		size_t from = value_of(t, i + strlen(names[k]), is_option(t, i)), to = from;
		while (to < t.len && !ascii_blank(t.p[to]) && !strchr("\"',;&)}<>", t.p[to]))
			to++;
		if (from > 0 && to > from && !marked(t, from))
			return (struct span){from, to};
	}
	return NO_SPAN;
}

/* The next place of `needle` from i on, not behind `most`; t.len: none. */
static size_t find(struct text t, size_t i, const char *needle, size_t most)
{
	size_t len = i + most < t.len ? most : t.len - i;
	const char *found = memmem(t.p + i, len, needle, strlen(needle));

	return found ? (size_t)(found - t.p) : t.len;
}

/* A private key from its first line to the end of its last, or of the text. */
static struct span match_pem(struct text t, size_t i)
{
	if (!text_starts(text_after(t, i), "-----BEGIN "))
		return NO_SPAN;
	size_t head = find(t, i, "PRIVATE KEY", PEM_LINE_MAX);
	if (head == t.len)
		return NO_SPAN;
	size_t end = find(t, head, "-----END ", t.len);
	size_t last = end == t.len ? t.len : find(t, end + strlen("-----END "), "-----", t.len);
	return (struct span){i, last == t.len ? t.len : last + strlen("-----")};
}

static struct span match(struct text t, size_t i)
{
	static struct span (*const all[])(struct text t, size_t i) = {
		match_pem, match_url, match_header, match_name, match_key, match_random};

	for (size_t k = 0; k < ARRAY_SIZE(all); k++) {
		struct span s = all[k](t, i);
		if (s.to > 0)
			return s;
	}
	return NO_SPAN;
}

static void add_cut(struct str *out, struct text t, size_t max)
{
	size_t kept = t.len > max ? utf8_cut(t, max) : t.len;

	str_add(out, t.p, kept);
	if (kept < t.len)
		str_add_text(out, "...");
}

void scrub_add(struct str *out, struct text t, size_t max)
{
	AUTO(str) clean = STR_INIT((t.len + 1) * sizeof(SCRUB_MARK));
	size_t kept = 0; /* up to here it is in `clean` */

	for (size_t i = 0; i < t.len;) {
		struct span s = match(t, i);
		if (s.to == 0) {
			i++;
			continue;
		}
		str_add(&clean, t.p + kept, s.from - kept);
		str_add_text(&clean, SCRUB_MARK);
		kept = i = s.to;
	}
	str_add(&clean, t.p + kept, t.len - kept);
	add_cut(out, (struct text){str_text(&clean), clean.len}, max);
}

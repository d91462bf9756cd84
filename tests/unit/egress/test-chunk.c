/* Chunk framing (network.md §13.2): the same whatever pieces it comes in. */
#include "../unit.h"

#include "base/mem.h"
#include "egress/proxy/chunk.h"

enum { ROOM = 65536 };

static const struct row {
	const char *raw, *framed; /* framed NULL: refused */
	const char *data;
	size_t behind; /* bytes that are not of the body any more */
} rows[] = {
	{"0\r\n\r\n", "0\r\n\r\n", "", 0},
	{"5\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n", "hello", 0},
	{"00005\r\nhello\r\n0000\r\n\r\nGET", "5\r\nhello\r\n0\r\n\r\n", "hello", 3},
	{"a\r\n0123456789\r\n0\r\n\r\n", "a\r\n0123456789\r\n0\r\n\r\n", "0123456789", 0},
	{"A\r\n01\r\n456789\r\n0\r\n\r\n", "a\r\n01\r\n456789\r\n0\r\n\r\n", "01\r\n456789", 0},
	{"1;a=\"b\"\r\nx\r\n0;z\r\n\r\n", "1\r\nx\r\n0\r\n\r\n", "x", 0},
	{"1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n", "1\r\nx\r\n0\r\n\r\n", "x", 0},
	{"1\r\nx\r\n000000000000000\r\n\r\n", "1\r\nx\r\n0\r\n\r\n", "x", 0},
	{"1\r\nx\r\n0000000000000000\r\n\r\n", NULL, NULL, 0},
	{"1000000000000000\r\n", NULL, NULL, 0},
	{"\r\n", NULL, NULL, 0},
	{";x\r\n", NULL, NULL, 0},
	{"x\r\n", NULL, NULL, 0},
	{"-1\r\n", NULL, NULL, 0},
	{"+1\r\n", NULL, NULL, 0},
	{"0x1\r\nx\r\n", NULL, NULL, 0},
	{" 1\r\nx\r\n", NULL, NULL, 0},
	{"1 \r\nx\r\n", NULL, NULL, 0},
	{"1\nx\r\n", NULL, NULL, 0},
	{"1\r\rx\r\n", NULL, NULL, 0},
	{"1\r\nxy\r\n", NULL, NULL, 0},
	{"1\r\nx\n", NULL, NULL, 0},
	{"1;a\nb\r\nx\r\n", NULL, NULL, 0},
	{"0\r\nA: b\n\r\n", NULL, NULL, 0},
	{"0\r\n A: b\r\n\r\n", NULL, NULL, 0},
	{"0\r\nA: b\r\n c\r\n\r\n", NULL, NULL, 0},
	{"0\r\n\rx", NULL, NULL, 0},
};

/* In pieces of `step` bytes. False: refused. */
static bool read_in(struct chunks *c, struct text raw, size_t step, struct str *out)
{
	size_t used;

	while (raw.len > 0 && c->state != CHUNK_END) {
		struct text piece = {raw.p, step < raw.len ? step : raw.len};
		if (!chunk_read(c, piece, &used, out))
			return false;
		raw = text_after(raw, used);
	}
	return true;
}

static void check(const struct row *row, bool bare, size_t step)
{
	struct text raw = text_of(row->raw);
	struct chunks c = {.bare = bare};
	AUTO(str) out = STR_INIT(ROOM);

	bool good = read_in(&c, raw, step, &out);
	assert_int_equal(good, row->framed != NULL);
	if (!good)
		return;
	assert_string_equal(str_text(&out), bare ? row->data : row->framed);
	assert_int_equal(c.state, CHUNK_END);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		print_message("%s\n", quoted_string(rows[i].raw));
		for (size_t step = 1; step <= strlen(rows[i].raw); step++) {
			check(&rows[i], false, step);
			check(&rows[i], true, step);
		}
	}
}

static void test_what_is_behind_stays(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct chunks c = {.bare = false};
		AUTO(str) out = STR_INIT(ROOM);
		size_t used = 0;
		if (!rows[i].framed)
			continue;
		assert_true(chunk_read(&c, text_of(rows[i].raw), &used, &out));
		assert_int_equal(strlen(rows[i].raw) - used, rows[i].behind);
	}
}

/* `n` bytes of an extension, its semicolon included, or of trailers. */
static bool accepted(const char *before, size_t n, const char *behind)
{
	AUTO(str) raw = STR_INIT(ROOM);
	AUTO(str) out = STR_INIT(ROOM);
	struct chunks c = {.bare = false};

	str_add_text(&raw, before);
	for (size_t i = 0; i < n; i++)
		str_add_char(&raw, 'x');
	str_add_text(&raw, behind);
	return read_in(&c, (struct text){raw.data, raw.len}, raw.len, &out);
}

static void test_bounds(void **state)
{
	(void)state;
	assert_true(accepted("1;", CHUNK_EXTENSION_MAX - 1, "\r\nx\r\n"));
	assert_false(accepted("1;", CHUNK_EXTENSION_MAX, "\r\nx\r\n"));
	assert_true(accepted("0\r\n", CHUNK_TRAILERS_MAX - 2, "\r\n\r\n"));
	assert_false(accepted("0\r\n", CHUNK_TRAILERS_MAX - 1, "\r\n\r\n"));
}

/* A writer that takes little at a time gets the same. */
static void test_little_room(void **state)
{
	enum { DATA = 3000 };
	AUTO(str) raw = STR_INIT(ROOM);
	AUTO(str) all = STR_INIT(ROOM);
	struct chunks c = {.bare = false};

	(void)state;
	str_addf(&raw, "%x\r\n", (unsigned)DATA);
	for (int i = 0; i < DATA; i++)
		str_add_char(&raw, (char)('a' + i % 26));
	str_add_text(&raw, "\r\n0\r\n\r\n");
	struct text rest = {raw.data, raw.len};
	while (c.state != CHUNK_END) {
		AUTO(str) out = STR_INIT(100);
		size_t used;
		assert_true(chunk_read(&c, rest, &used, &out) && used > 0);
		rest = text_after(rest, used);
		str_add(&all, out.data, out.len);
	}
	assert_string_equal(str_text(&all), str_text(&raw));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_what_is_behind_stays),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_little_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

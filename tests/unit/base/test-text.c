#include "unit/unit.h"

#include "base/mem.h"
#include "base/text.h"

static void test_compare(void **state)
{
	(void)state;
	assert_true(text_starts(TEXT("abc"), "ab") && text_starts(TEXT("abc"), ""));
	assert_false(text_starts(TEXT("a"), "ab"));
	assert_true(text_ends(TEXT("abc"), "bc") && !text_ends(TEXT("c"), "bc"));
	assert_true(text_starts_nocase(TEXT("ABc"), "aB") && text_ends_nocase(TEXT("aBC"), "bc"));
	assert_true(text_is_nocase(TEXT("TRUE"), "true") && !text_is_nocase(TEXT("true "), "true"));
	/* Only ASCII letters have two cases: [ is not {, and no locale is asked. */
	assert_false(text_is_nocase(TEXT("["), "{"));
	assert_false(text_is_nocase(TEXT("\xc3\x84"), "\xc3\xa4"));
	assert_true(text_equal((struct text){NULL, 0}, TEXT("")));
	assert_true(text_has(TEXT("a\0bc"), "bc") && !text_has(TEXT(""), "x"));
	assert_true(text_has_byte(TEXT("a\0"), '\0') && !text_has_byte(TEXT("a"), '\0'));
	assert_true(text_compare(TEXT("a"), TEXT("ab")) < 0);
	assert_true(text_compare(TEXT("b"), TEXT("ab")) > 0);
	assert_true(text_compare(TEXT("\x80"), TEXT("a")) > 0);
	assert_int_equal(text_compare(TEXT("ab"), TEXT("ab")), 0);
	assert_int_equal(text_compare((struct text){NULL, 0}, TEXT("")), 0);
}

static void test_trim(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"", ""},
		{" \t\r\n", ""},
		{" a b\n", "a b"},
		{"\va\f", "\va\f"},
		{"\xc2\xa0"
		 "a",
			"\xc2\xa0"
			"a"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_true(text_is(text_trim(text_of(rows[i][0])), rows[i][1]));
	assert_true(text_blank(TEXT(" \n")) && !text_blank(TEXT("\v")));
	assert_true(text_has_control(TEXT("a\x7f")) && text_has_control(TEXT("\0")));
	assert_false(text_has_control(TEXT("a\x80 ")));
}

static void test_split(void **state)
{
	(void)state;
	static const struct {
		const char *whole;
		const char *parts[5];
	} rows[] = {{"a,,b", {"a", "", "b"}}, {"", {""}}, {",", {"", ""}}, {"a", {"a"}},
		{"a,", {"a", ""}}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text rest = text_of(rows[i].whole), part;
		for (const char *const *p = rows[i].parts; *p; p++)
			assert_true(text_split(&rest, ',', &part) && text_is(part, *p));
		assert_false(text_split(&rest, ',', &part));
		assert_false(text_split(&rest, ',', &part));
	}
}

static void test_classes(void **state)
{
	(void)state;
	for (int c = 0; c < 256; c++) {
		char b = (char)c;
		bool digit = c >= '0' && c <= '9', lower = c >= 'a' && c <= 'z',
		     upper = c >= 'A' && c <= 'Z';
		assert_int_equal(ascii_digit(b), digit);
		assert_int_equal(ascii_alpha(b), lower || upper);
		assert_int_equal(ascii_alnum(b), digit || lower || upper);
		assert_int_equal(ascii_control(b), c < 32 || c == 127);
		assert_int_equal(
			ascii_word(b, "._"), digit || lower || upper || c == '.' || c == '_');
	}
	assert_true(text_all_word(TEXT(""), "") && text_all_word(TEXT("a-b"), "-"));
	assert_false(text_all_word(TEXT("a\0"), "-"));
}

static void test_utf8(void **state)
{
	(void)state;
	static const struct {
		struct text bytes;
		size_t n; /* 0 = refused */
		uint32_t c;
	} rows[] = {
		{TEXT("a"), 1, 'a'},
		{TEXT("\0"), 1, 0},
		{TEXT("\x7f"), 1, 0x7f},
		{TEXT("\xc2\x80"), 2, 0x80},
		{TEXT("\xdf\xbf"), 2, 0x7ff},
		{TEXT("\xe0\xa0\x80"), 3, 0x800},
		{TEXT("\xed\x9f\xbf"), 3, 0xd7ff},
		{TEXT("\xee\x80\x80"), 3, 0xe000},
		{TEXT("\xef\xbf\xbf"), 3, 0xffff},
		{TEXT("\xf0\x90\x80\x80"), 4, 0x10000},
		{TEXT("\xf4\x8f\xbf\xbf"), 4, 0x10ffff},
		{TEXT(""), 0, 0},
		{TEXT("\x80"), 0, 0},
		{TEXT("\xbf"), 0, 0},
		{TEXT("\xc0\x80"), 0, 0},
		{TEXT("\xc1\xbf"), 0, 0},
		{TEXT("\xc2"), 0, 0},
		{TEXT("\xc2\x41"), 0, 0},
		{TEXT("\xe0\x9f\xbf"), 0, 0},
		{TEXT("\xe0\xa0"), 0, 0},
		{TEXT("\xe1\x80\xc0"), 0, 0},
		{TEXT("\xed\xa0\x80"), 0, 0},
		{TEXT("\xed\xbf\xbf"), 0, 0},
		{TEXT("\xf0\x8f\xbf\xbf"), 0, 0},
		{TEXT("\xf0\x90\x80"), 0, 0},
		{TEXT("\xf4\x90\x80\x80"), 0, 0},
		{TEXT("\xf5\x80\x80\x80"), 0, 0},
		{TEXT("\xff"), 0, 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t c = 0;
		size_t n = utf8_next(rows[i].bytes, &c);
		if (n != rows[i].n || (n > 0 && c != rows[i].c))
			fail_msg("row %zu: %zu bytes, U+%04X", i, n, c);
		if (rows[i].bytes.len > 0)
			assert_int_equal(utf8_valid(rows[i].bytes), n == rows[i].bytes.len);
	}
	assert_true(utf8_valid(TEXT("")));
	assert_false(utf8_valid(TEXT("ok\xc3")));
}

/* Every value survives, in the one encoding there is. */
static void test_utf8_all(void **state)
{
	(void)state;
	for (uint32_t c = 0x80; c <= 0x10ffff; c++) {
		unsigned char b[4];
		size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
		uint32_t rest = c, got = 0;
		for (size_t i = n; i-- > 1; rest >>= 6)
			b[i] = (unsigned char)(0x80 | (rest & 0x3f));
		b[0] = (unsigned char)((0xf0 << (4 - n)) | rest);
		bool surrogate = c >= 0xd800 && c <= 0xdfff;
		size_t read = utf8_next((struct text){(const char *)b, n}, &got);
		if (read != (surrogate ? 0 : n) || (!surrogate && got != c))
			fail_msg("U+%04X: %zu bytes, U+%04X", c, read, got);
	}
}

static void test_utf8_cut(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t max, n;
	} rows[] = {
		{"abc", 5, 3},
		{"abc", 3, 3},
		{"abc", 2, 2},
		{"abc", 0, 0},
		{"", 0, 0},
		{"a\xc3\xa4", 2, 1},
		{"a\xc3\xa4", 3, 3},
		{"\xc3\xa4", 1, 0},
		{"\xf0\x9f\x98\x80", 3, 0},
		{"x\xf0\x9f\x98\x80", 4, 1},
		/* No UTF-8 at all: cut where it is. */
		{"\x80\x80\x80\x80\x80\x80", 5, 5},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(utf8_cut(text_of(rows[i].text), rows[i].max), rows[i].n);
}

static void test_quote(void **state)
{
	(void)state;
	static const struct {
		struct text text;
		const char *quoted;
	} rows[] = {
		{TEXT(""), "\"\""},
		{TEXT("plain ~"), "\"plain ~\""},
		{TEXT("a\"b\\c"), "\"a\\x22b\\x5cc\""},
		{TEXT("\n\t\0\x7f"), "\"\\x0a\\x09\\x00\\x7f\""},
		{TEXT("\xc3\xa4"), "\"\\xc3\\xa4\""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO(str) out = STR_INIT(1000);
		text_quote(&out, rows[i].text, 128);
		assert_string_equal(str_text(&out), rows[i].quoted);
		assert_string_equal(quoted(rows[i].text), rows[i].quoted);
	}
	AUTO(str) out = STR_INIT(1000);
	text_quote(&out, TEXT("abcdef"), 3);
	assert_string_equal(str_text(&out), "\"abc...\"");
	assert_string_equal(quoted_string(NULL), "\"\"");
}

static void test_quoted_ring(void **state)
{
	(void)state;
	char worst[300];
	const char *first = quoted_string("first");

	memset(worst, '\x01', sizeof(worst));
	for (int i = 0; i < 7; i++)
		quoted((struct text){worst, sizeof(worst)});
	assert_string_equal(first, "\"first\"");
	assert_int_equal(strlen(quoted((struct text){worst, sizeof(worst)})), 128 * 4 + 5);
}

static void test_escape(void **state)
{
	(void)state;
	AUTO(str) out = STR_INIT(1000);

	text_escape(&out, TEXT("a\"\\\n\0\xff\xc3\xa4\xc2\x85\x7f\xe2\x82"), 100);
	assert_string_equal(
		str_text(&out), "a\"\\\\x0a\\x00\\xff\xc3\xa4\\xc2\\x85\\x7f\\xe2\\x82");
	str_reset(&out);
	text_escape(&out, TEXT("ab\xc3\xa4"), 3);
	assert_string_equal(str_text(&out), "ab");
}

/* Text that a terminal shows in another order than it is written. */
static void test_escape_directions(void **state)
{
	(void)state;
	static const uint32_t hidden[] = {0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b,
		0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069};
	static const uint32_t shown[] = {' ', '~', 0xa0, 0x61b, 0x61d, 0x5d0, 0x200d, 0x2010,
		0x2027, 0x202f, 0x2065, 0x206a, 0x10000};
	AUTO(str) out = STR_INIT(1000);

	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		assert_true(utf8_control(hidden[i]));
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		assert_false(utf8_control(shown[i]));
	text_escape(&out,
		TEXT("a\xe2\x80\xae"
		     "b\xe2\x81\xa6"
		     "c\xd8\x9c"
		     "\xd7\x90"),
		100);
	assert_string_equal(str_text(&out), "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6"
					    "c\\xd8\\x9c\xd7\x90");
}

static void test_distance(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b;
		unsigned limit, distance;
	} rows[] = {
		{"", "", 2, 0},
		{"a", "", 2, 1},
		{"", "ab", 2, 2},
		{"", "abc", 2, 3},
		{"memory", "memory", 2, 0},
		{"Memory", "mEMORY", 2, 0},
		{"memroy", "memory", 2, 2},
		{"memor", "memory", 2, 1},
		{"kitten", "sitting", 5, 3},
		{"kitten", "sitting", 2, 3},
		{"abc", "xyz", 2, 3},
		{"abc", "xyz", 0, 1},
		{"abc", "abc", 0, 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text a = text_of(rows[i].a), b = text_of(rows[i].b);
		assert_int_equal(text_distance(a, b, rows[i].limit), rows[i].distance);
		assert_int_equal(text_distance(b, a, rows[i].limit), rows[i].distance);
	}
	auto_free char *longer = mem_alloc(200);
	memset(longer, 'a', 199);
	assert_int_equal(text_distance(text_of(longer), text_of(longer), 2), 3);
}

static void test_hex(void **state)
{
	(void)state;
	unsigned char all[256], back[256];
	char hex[513];

	for (size_t i = 0; i < 256; i++)
		all[i] = (unsigned char)i;
	hex_encode(all, 256, hex);
	assert_int_equal(strlen(hex), 512);
	assert_int_equal(hex_decode(text_of(hex), back, 256), 0);
	assert_memory_equal(all, back, 256);
	assert_int_equal(hex_decode(TEXT("0A"), back, 1), -1);
	assert_int_equal(hex_decode(TEXT("0"), back, 1), -1);
	assert_int_equal(hex_decode(TEXT("000"), back, 1), -1);
	assert_int_equal(hex_decode(TEXT("0g"), back, 1), -1);
	assert_true(text_is_hex(TEXT("09af"), 4) && !text_is_hex(TEXT("09af"), 3));
}

static void test_lines(void **state)
{
	struct text lines = TEXT("Cap:\t0\nUidx: 1\nUid:\t7 8 \nUid: 9\n");

	(void)state;
	assert_true(text_is(text_trim_line(TEXT(" \t a\r \t")), "a\r"));
	assert_true(text_is(text_trim_line(TEXT(" \t")), ""));
	assert_true(text_is(text_value(lines, "Uid"), "7 8"));
	assert_true(text_is(text_value(lines, "Cap"), "0"));
	assert_null(text_value(lines, "Ui").p);
	assert_int_equal(utf8_step(TEXT("\xc3\xa4x")), 2);
	assert_int_equal(utf8_step(TEXT("\xc3x")), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines),
		cmocka_unit_test(test_compare), cmocka_unit_test(test_trim),
		cmocka_unit_test(test_split), cmocka_unit_test(test_classes),
		cmocka_unit_test(test_utf8), cmocka_unit_test(test_utf8_all),
		cmocka_unit_test(test_utf8_cut), cmocka_unit_test(test_quote),
		cmocka_unit_test(test_quoted_ring), cmocka_unit_test(test_escape),
		cmocka_unit_test(test_escape_directions), cmocka_unit_test(test_distance),
		cmocka_unit_test(test_hex)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit/unit.h"

#include "executor/container/driver/build-output.h"
#include "unit/sys/unit-dir.h"

enum { SHOWN_MAX = 1 << 20 };

static void show(void *data, struct text piece)
{
	assert_true(piece.len > 0 && piece.len <= 4096);
	str_add(data, piece.p, piece.len);
}

/* What is shown for bytes that come one by one, and in one go. */
static void assert_shown(struct text in, const char *wanted)
{
	for (size_t step = 1; step <= in.len + 1; step += in.len ? in.len : 1) {
		AUTO(str) shown = STR_INIT(SHOWN_MAX);
		AUTO(build_output) o = BUILD_OUTPUT_INIT;
		o.show = show;
		o.data = &shown;
		for (size_t i = 0; i < in.len; i += step)
			build_output_take(
				&o, (struct text){in.p + i, in.len - i < step ? in.len - i : step});
		build_output_end(&o);
		assert_string_equal(str_text(&shown), wanted);
	}
}

static void test_sanitised(void **state)
{
	(void)state;
	assert_shown(TEXT("a\nb"), "a\nb\n");
	assert_shown(TEXT("a\r\nb\rc\n\n"), "a\nb\nc\n\n");
	assert_shown(TEXT("\033[31m\tred\a\x7f"), "\\x1b[31m\tred\\x07\\x7f\n");
	assert_shown(TEXT("\xc2\x9b\xc2\x85 \xff\xc3\xa4"), "\\xc2\\x9b\\xc2\\x85 \\xff\xc3\xa4\n");
	assert_shown(TEXT("a\0b\n"), "a\\x00b\n");
	assert_shown(TEXT(""), "");
}

static void test_long_line(void **state)
{
	(void)state;
	AUTO(str) shown = STR_INIT(SHOWN_MAX);
	AUTO(build_output) o = BUILD_OUTPUT_INIT;

	o.show = show;
	o.data = &shown;
	for (unsigned i = 0; i < 5000; i++)
		build_output_take(&o, i % 2 ? TEXT("\xe2\x82\xac") : TEXT("\xff"));
	build_output_take(&o, TEXT("\n"));
	assert_int_equal(shown.len, 2500 * (3 + 4) + 1);
	assert_true(utf8_valid((struct text){shown.data, shown.len}));
	struct text last = build_output_last_lines(&o);
	assert_true(last.len <= BUILD_OUTPUT_BYTES && utf8_valid(last));
}

static void test_last_lines(void **state)
{
	(void)state;
	AUTO(build_output) o = BUILD_OUTPUT_INIT;
	AUTO(str) line = STR_INIT(64);

	assert_int_equal(build_output_last_lines(&o).len, 0);
	for (unsigned i = 0; i < 3000; i++) {
		str_reset(&line);
		str_addf(&line, "line %u\n", i);
		build_output_take(&o, (struct text){str_text(&line), line.len});
	}
	build_output_take(&o, TEXT("end"));
	build_output_end(&o);
	struct text last = build_output_last_lines(&o);
	assert_true(
		text_starts(last, "line 2989\nline 2990\n") && text_ends(last, "line 2999\nend"));
	assert_false(o.began);
}

static void test_begun(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool began;
	} rows[] = {{"STEP 1/3: FROM x\n", true}, {"w\nStep 1/3 : FROM x\n", true},
		{"Cannot connect to the Docker daemon\n", false}, {"x step 1/3\n", false}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO(build_output) o = BUILD_OUTPUT_INIT;
		build_output_take(&o, text_of(rows[i].text));
		assert_int_equal(o.began, rows[i].began);
	}
}

static void test_log(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(build_output) o = BUILD_OUTPUT_INIT;
	struct stat st;

	assert_int_equal(mkdirat(dir, "x", 0700), 0);
	assert_int_equal(build_output_open_log(&o, dir, "x", &err), -1);
	assert_done(build_output_open_log(&o, dir, "log", &err), &err);
	for (unsigned i = 0; i < 60000; i++)
		build_output_take(&o, TEXT("a line of forty bytes is what this one is\n"));
	build_output_take(&o, TEXT("the end"));
	assert_int_equal(fstatat(dir, "log", &st, 0), 0);
	assert_true(st.st_size <= 2 * BUILD_OUTPUT_LOG_MAX && (st.st_mode & 0777) == 0600);
	build_output_end(&o);
	assert_int_equal(fstatat(dir, "log", &st, 0), 0);
	assert_true(st.st_size <= BUILD_OUTPUT_LOG_MAX && st.st_size > BUILD_OUTPUT_LOG_MAX / 2);
	AUTO(str) all = STR_INIT(BUILD_OUTPUT_LOG_MAX + 1);
	assert_int_equal(file_read_at(dir, "log", BUILD_OUTPUT_LOG_MAX, &all), 0);
	struct text text = {str_text(&all), all.len};
	assert_true(text_starts(text, "a line") && text_ends(text, "is\nthe end\n"));
}

/* A line that is longer than the whole log is cut within, between two characters. */
static void test_log_of_long_line(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(build_output) o = BUILD_OUTPUT_INIT;
	AUTO(str) piece = STR_INIT(65536);
	struct stat st;

	assert_done(build_output_open_log(&o, dir, "log", &err), &err);
	for (unsigned i = 0; i < 20000; i++)
		str_add(&piece, "\xe2\x82\xac", 3);
	for (unsigned i = 0; i < 60; i++)
		build_output_take(&o, (struct text){str_text(&piece), piece.len});
	build_output_take(&o, TEXT("\ndone\n"));
	build_output_end(&o);
	assert_int_equal(fstatat(dir, "log", &st, 0), 0);
	assert_true(st.st_size <= BUILD_OUTPUT_LOG_MAX && st.st_size > BUILD_OUTPUT_LOG_MAX - 4);
	AUTO(str) all = STR_INIT(BUILD_OUTPUT_LOG_MAX + 1);
	assert_int_equal(file_read_at(dir, "log", BUILD_OUTPUT_LOG_MAX, &all), 0);
	struct text text = {str_text(&all), all.len};
	assert_true(utf8_valid(text) && text_ends(text, "\ndone\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_sanitised),
		cmocka_unit_test(test_long_line), cmocka_unit_test(test_last_lines),
		cmocka_unit_test(test_begun), IN_DIR(test_log), IN_DIR(test_log_of_long_line)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

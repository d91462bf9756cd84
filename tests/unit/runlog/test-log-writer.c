#include "unit/runlog/log-dir.h"

#include <signal.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "sys/fault.h"

static void test_written_and_read(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(log_writer) w = writer(64 * MB);
	struct log_frame f;

	put_text(w, "one");
	assert_true(log_writer_append(
		w, LOG_STDERR, 7, (struct text[]){TEXT("t"), TEXT(""), TEXT("wo")}, 3));
	assert_true(log_writer_append(w, LOG_STDOUT, 7, NULL, 0));
	assert_true(log_writer_unsynced(w));
	log_writer_sync(w);
	assert_false(log_writer_unsynced(w));
	assert_done(log_writer_end(w, 9, &err), &err);
	struct log_stats stats = log_writer_stats(w);
	assert_int_equal(stats.bytes, 6);
	assert_int_equal(stats.dropped_bytes, 0);
	assert_int_equal(stats.last_seq, 3);
	assert_true(stats.ended && !stats.write_failed);

	AUTO_PTR(log_reader) r = reader(0);
	assert_int_equal(log_reader_next(r, &f, &err), LOG_READ_FRAME);
	assert_int_equal(f.time_ns, 101);
	assert_true(text_is(f.data, "one"));
	expect_frame(r, 2, LOG_STDERR, "two");
	expect_frame(r, 3, LOG_END, "");
	expect(r, LOG_READ_END);
	expect(r, LOG_READ_END);
}

static void test_notes(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(log_writer) w = writer(64 * MB);
	static char many[3 * 2000 + 1];
	struct log_frame f;

	for (size_t i = 0; i < 2000; i++)
		memcpy(many + 3 * i, "\xe2\x82\xac", 3);
	assert_true(log_writer_note(w, 1, TEXT("disk: \xff 70 %")));
	assert_true(log_writer_note(w, 1, text_of(many)));
	AUTO_PTR(log_reader) r = reader(0);
	expect_frame(r, 1, LOG_NOTE, "[cloop] disk: \\xff 70 %");
	assert_int_equal(log_reader_next(r, &f, &err), LOG_READ_FRAME);
	assert_true(f.data.len <= LOG_NOTE_MAX && f.data.len > LOG_NOTE_MAX - 3);
	assert_true(utf8_valid(f.data));
}

/* 10 MB into a log of 4 MB: bounded at every moment, contiguous, all of it accounted for. */
static void test_bounded(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(log_writer) w = writer(4 * MB);
	uint64_t list[64], frames = 10 * MB / PAYLOAD, kept = 0;

	for (uint64_t i = 0; i < frames; i++) {
		size_t total = 0;
		assert_true(put_block(w));
		size_t n = segments(list);
		for (size_t j = 0; j < n; j++)
			total += segment_size(list[j]);
		assert_true(total <= 4 * MB);
		assert_true(i < 80 || n >= 3);
	}
	struct log_stats stats = log_writer_stats(w);
	assert_int_equal(stats.bytes, frames * PAYLOAD);
	assert_int_equal(stats.last_seq, frames);
	segments(list);
	assert_int_equal(stats.dropped_bytes, (list[0] - 1) * PAYLOAD);

	AUTO_PTR(log_reader) r = reader(0);
	struct log_frame f;
	expect_gap(r, list[0] - 1, stats.dropped_bytes);
	while (log_reader_next(r, &f, &err) == LOG_READ_FRAME)
		assert_int_equal(f.seq, list[0] + kept++);
	assert_int_equal(kept, frames - list[0] + 1);

	/* A new writer counts the same. */
	log_writer_free(TAKE_PTR(w));
	w = writer(4 * MB);
	struct log_stats again = log_writer_stats(w);
	assert_int_equal(again.bytes, stats.bytes);
	assert_int_equal(again.dropped_bytes, stats.dropped_bytes);
	assert_int_equal(again.last_seq, stats.last_seq);
	/* And drops the same later on. */
	for (uint64_t i = 0; i < frames; i++)
		assert_true(put_block(w));
	segments(list);
	again = log_writer_stats(w);
	assert_int_equal(again.dropped_bytes, (list[0] - 1) * PAYLOAD);
}

/* The smallest cap holds the newest segment only, and never less. */
static void test_smallest_cap(void **state)
{
	(void)state;
	AUTO_PTR(log_writer) w = writer(MB);
	uint64_t list[64];

	for (int i = 0; i < 60; i++) {
		assert_true(put_block(w));
		assert_int_equal(segments(list), 1);
	}
	assert_true(list[0] > 30);
}

/* Whatever a crash left of the last frame: the rest stays, and numbers go on. */
static void test_torn_end(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	const size_t good = LOG_HEADER_SIZE + LOG_FRAME_SIZE + 3;

	for (size_t left = LOG_HEADER_SIZE; left <= good + LOG_FRAME_SIZE + 6; left++) {
		AUTO_PTR(log_writer) w = writer(64 * MB);
		put_text(w, "one");
		put_text(w, "second");
		log_writer_free(TAKE_PTR(w));
		auto_fd int fd = segment_fd(1, O_RDWR);
		assert_int_equal(ftruncate(fd, (off_t)left), 0);
		w = writer(64 * MB);
		uint64_t kept = left < good ? 0 : left < good + LOG_FRAME_SIZE + 6 ? 1 : 2;
		assert_int_equal(log_writer_stats(w).last_seq, kept);
		assert_int_equal(log_writer_stats(w).bytes, kept == 2 ? 9 : kept * 3);
		put_text(w, "after");
		AUTO_PTR(log_reader) r = reader(kept);
		expect_frame(r, kept + 1, LOG_STDOUT, "after");
		expect(r, LOG_READ_NOTHING);
		assert_done(file_remove_tree_at(dir, "log", &err), &err);
	}
}

/* A last segment without a good header is removed; the one before goes on. */
static void test_damaged_header(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t size;
	} damages[] = {{"", 0}, {"cloopLG1", 8}, {"XloopLG1                        ", 32}};

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		AUTO_PTR(log_writer) w = writer(64 * MB);
		put_text(w, "x");
		uint64_t last = log_writer_stats(w).last_seq, list[64];
		log_writer_free(TAKE_PTR(w));
		int fd = segment_fd(last + 1, O_RDWR | O_CREAT);
		assert_int_equal(write(fd, damages[i].bytes, damages[i].size), damages[i].size);
		close(fd);
		w = writer(64 * MB);
		assert_int_equal(segments(list), 1);
		assert_int_equal(log_writer_stats(w).last_seq, last);
	}
	/* Nothing else is left: its name still says where numbers go on. */
	close(segment_fd(1, O_RDWR | O_TRUNC));
	AUTO_PTR(log_writer) w = writer(64 * MB);
	put_text(w, "new");
	AUTO_PTR(log_reader) r = reader(0);
	expect_frame(r, 1, LOG_STDOUT, "new");
}

static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A write that ends in the middle (here: a file that may not grow) leaves no trace but a gap. */
static void test_partial_write(void **state)
{
	(void)state;
	AUTO_PTR(log_writer) w = writer(64 * MB);

	put_text(w, "one");
	limit_file_size(PAYLOAD / 2);
	assert_false(put_block(w));
	assert_false(put_block(w));
	/* The second one could still say that the first was lost. */
	assert_int_equal(segment_size(1), LOG_HEADER_SIZE + 2 * LOG_FRAME_SIZE + 3 + LOG_GAP_SIZE);
	limit_file_size(RLIM_INFINITY);
	put_text(w, "later");
	struct log_stats stats = log_writer_stats(w);
	assert_true(stats.write_failed);
	assert_int_equal(stats.dropped_bytes, 2 * PAYLOAD);

	AUTO_PTR(log_reader) r = reader(0);
	expect_frame(r, 1, LOG_STDOUT, "one");
	expect_gap(r, 2, PAYLOAD);
	expect_gap(r, 3, PAYLOAD);
	expect_frame(r, 4, LOG_STDOUT, "later");
	expect(r, LOG_READ_NOTHING);
}

/* The n-th write fails, for every n: no frame is lost untold, none is wrong. */
static void test_any_write_fails(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;

	for (int n = 1; n <= 8; n++) {
		AUTO_PTR(log_writer) w = writer(64 * MB);
		auto_free char *point = mem_printf("log-write:%d", n);
		uint64_t shown = 0, told = 0;
		struct log_frame f;
		fault_arm(point);
		for (int i = 0; i < 6; i++) {
			struct text t = TEXT("12345");
			log_writer_append(w, LOG_STDOUT, 1, &t, 1);
		}
		fault_arm(NULL);
		assert_true(log_writer_gap(w, 1, 0));
		assert_int_equal(log_writer_stats(w).write_failed, n <= 6);
		AUTO_PTR(log_reader) r = reader(0);
		while (log_reader_next(r, &f, &err) == LOG_READ_FRAME) {
			shown += f.stream == LOG_STDOUT ? f.data.len : 0;
			told += f.stream == LOG_GAP ? log_gap_lost(&f) : 0;
		}
		assert_int_equal(shown + told, 30);
		assert_int_equal(told, n <= 6 ? 5 : 0);
		assert_done(file_remove_tree_at(dir, "log", &err), &err);
	}
}

static void test_gap_told_by_caller(void **state)
{
	(void)state;
	AUTO_PTR(log_writer) w = writer(64 * MB);

	assert_true(log_writer_gap(w, 1, 17));
	assert_true(log_writer_gap(w, 1, LOG_LOST_UNKNOWN));
	AUTO_PTR(log_reader) r = reader(0);
	expect_gap(r, 1, 17);
	expect_gap(r, 2, LOG_LOST_UNKNOWN);
	assert_int_equal(log_writer_stats(w).dropped_bytes, 17);
	assert_false(log_writer_stats(w).write_failed);
}

/* Who waits for the end gets it even when older output must go for it. */
static void test_end_on_full_disk(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(log_writer) w = writer(64 * MB);
	uint64_t list[64];

	fault_arm("log-write");
	assert_int_equal(log_writer_end(w, 1, &err), -1);
	assert_int_equal(err.code, ERROR_IO);
	for (int i = 0; i < 80; i++)
		assert_true(put_block(w));
	assert_int_equal(segments(list), 2);
	fault_arm("log-write");
	assert_done(log_writer_end(w, 1, &err), &err);
	assert_int_equal(segments(list), 1);
	fault_arm(NULL);
}

static void test_unusable_directory(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct log_writer *w = NULL;

	assert_int_equal(symlinkat("/tmp", dir, "log"), 0);
	assert_int_equal(log_writer_open(dir, MB, 1, &w, &err), -1);
	assert_int_equal(err.code, ERROR_IO);
	assert_null(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_written_and_read),
		IN_DIR(test_notes),
		IN_DIR(test_bounded),
		IN_DIR(test_smallest_cap),
		IN_DIR(test_torn_end),
		IN_DIR(test_damaged_header),
		IN_DIR(test_partial_write),
		IN_DIR(test_any_write_fails),
		IN_DIR(test_gap_told_by_caller),
		IN_DIR(test_end_on_full_disk),
		IN_DIR(test_unusable_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

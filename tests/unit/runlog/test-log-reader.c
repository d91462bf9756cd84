#include "unit/runlog/log-dir.h"

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "sys/clock.h"

static bool readable(const struct log_reader *r)
{
	struct pollfd p = {.fd = log_reader_fd(r), .events = POLLIN};

	return poll(&p, 1, 1000) == 1;
}

static bool quiet(const struct log_reader *r)
{
	struct pollfd p = {.fd = log_reader_fd(r), .events = POLLIN};

	return poll(&p, 1, 20) == 0;
}

/* A new reader looks by itself; later it is woken only by what happens. */
static void become_patient(struct log_reader *r)
{
	for (int64_t end = clock_boottime_ms() + 200; clock_boottime_ms() < end;) {
		assert_true(readable(r));
		expect(r, LOG_READ_NOTHING);
		if (quiet(r))
			return;
	}
	fail_msg("the reader goes on looking");
}

static void test_no_log_yet(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(log_reader) r = NULL;

	assert_int_equal(log_reader_open(dir, 0, &r, &err), 1);
	assert_null(r);
	assert_int_equal(mkdirat(dir, "log", 0700), 0);
	r = reader(0);
	expect(r, LOG_READ_NOTHING);
	AUTO_PTR(log_writer) w = writer(64 * MB);
	put_text(w, "one");
	assert_true(readable(r));
	expect_frame(r, 1, LOG_STDOUT, "one");
}

static void test_from_any_number(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(log_writer) w = writer(64 * MB);

	for (int i = 0; i < 9; i++)
		put_text(w, "x");
	assert_done(log_writer_end(w, 1, &err), &err);
	for (uint64_t since = 0; since < 15; since++) {
		AUTO_PTR(log_reader) r = reader(since);
		for (uint64_t seq = since + 1; seq <= 10; seq++)
			expect_frame(r, seq, seq == 10 ? LOG_END : LOG_STDOUT, NULL);
		expect(r, LOG_READ_END);
	}
	AUTO_PTR(log_reader) r = reader(UINT64_MAX);
	expect(r, LOG_READ_END);
}

static void test_wakes_up(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(log_writer) w = writer(64 * MB);
	AUTO_PTR(log_reader) r = reader(0);

	put_text(w, "one");
	expect_frame(r, 1, LOG_STDOUT, "one");
	expect(r, LOG_READ_NOTHING);
	become_patient(r);
	put_text(w, "two");
	assert_true(readable(r));
	expect_frame(r, 2, LOG_STDOUT, "two");
	expect(r, LOG_READ_NOTHING);
	assert_true(quiet(r));
	assert_done(log_writer_end(w, 1, &err), &err);
	assert_true(readable(r));
	expect_frame(r, 3, LOG_END, "");
}

/* Side by side through many rotations and deletions: a reader that keeps up misses nothing. */
static void test_follows_rotation(void **state)
{
	(void)state;
	AUTO_PTR(log_writer) w = writer(MB);
	AUTO_PTR(log_reader) near = reader(0);
	AUTO_PTR(log_reader) later = reader(0);

	for (uint64_t seq = 1; seq <= 200; seq++) {
		assert_true(put_block(w));
		expect_frame(near, seq, LOG_STDOUT, NULL);
		if (seq % 16 == 0)
			for (uint64_t i = seq - 15; i <= seq; i++)
				expect_frame(later, i, LOG_STDOUT, NULL);
		if (seq % 3 == 0)
			expect(near, LOG_READ_NOTHING);
	}
}

/* One that does not: a gap of unknown size, then the oldest frame there is. */
static void test_left_behind(void **state)
{
	(void)state;
	AUTO_PTR(log_writer) w = writer(MB);
	AUTO_PTR(log_reader) r = reader(0);
	uint64_t list[64], seq = 1;

	assert_true(put_block(w));
	expect_frame(r, seq++, LOG_STDOUT, NULL);
	for (int i = 0; i < 100; i++)
		assert_true(put_block(w));
	assert_int_equal(segments(list), 1);
	/* Its own segment is deleted, but open: what is in it still comes. */
	for (; seq <= 18; seq++)
		expect_frame(r, seq, LOG_STDOUT, NULL);
	expect_gap(r, list[0] - 1, LOG_LOST_UNKNOWN);
	expect_frame(r, list[0], LOG_STDOUT, NULL);
	/* Reading on from the gap's number gives the same frame, and no second gap. */
	AUTO_PTR(log_reader) again = reader(list[0] - 1);
	expect_frame(again, list[0], LOG_STDOUT, NULL);
	/* From a number in the gap: unknown; from the start: exact. */
	AUTO_PTR(log_reader) middle = reader(list[0] - 2);
	expect_gap(middle, list[0] - 1, LOG_LOST_UNKNOWN);
	expect_frame(middle, list[0], LOG_STDOUT, NULL);
	AUTO_PTR(log_reader) start = reader(0);
	expect_gap(start, list[0] - 1, (list[0] - 1) * PAYLOAD);
	expect_frame(start, list[0], LOG_STDOUT, NULL);
}

static void append(uint64_t segment, const void *bytes, size_t n)
{
	auto_fd int fd = segment_fd(segment, O_WRONLY | O_APPEND);

	assert_int_equal(write(fd, bytes, n), n);
}

/* One that has looked ahead keeps what is deleted before it gets there. */
static void test_holds_deleted(void **state)
{
	(void)state;
	AUTO_PTR(log_writer) w = writer(4 * MB);
	AUTO_PTR(log_reader) r = reader(0);
	uint64_t list[64], seq = 1;

	for (int i = 0; i < 40; i++)
		assert_true(put_block(w));
	for (; seq <= 9; seq++)
		expect_frame(r, seq, LOG_STDOUT, NULL);
	for (int i = 0; i < 60; i++)
		assert_true(put_block(w));
	assert_true(segments(list) > 1 && list[0] > 18);
	for (; seq <= 100; seq++)
		expect_frame(r, seq, LOG_STDOUT, NULL);
	expect(r, LOG_READ_NOTHING);
}

/* Puts blocks until the writer would wait; how many. */
static unsigned put_until_outrun(struct log_writer *w)
{
	unsigned n = 0;

	for (; n < 1000 && !log_writer_unread(w) && !log_writer_outruns(w); n++)
		assert_true(put_block(w));
	return n;
}

/* A reader that is only behind is awaited before each deletion: nothing is missing. */
static void test_awaited(void **state)
{
	(void)state;
	AUTO_PTR(log_writer) w = writer(4 * MB);
	uint64_t seq = 1, put = put_until_outrun(w);

	assert_true(put > 30 && put < 80 && log_writer_unread(w));
	AUTO_PTR(log_reader) r = reader(0);
	for (int i = 0; i < 20; i++) {
		while (seq <= put)
			expect_frame(r, seq++, LOG_STDOUT, NULL);
		expect(r, LOG_READ_NOTHING);
		assert_false(log_writer_outruns(w));
		put += put_until_outrun(w);
		assert_int_equal(log_writer_stats(w).last_seq, put);
	}
	while (seq <= put)
		expect_frame(r, seq++, LOG_STDOUT, NULL);
}

/* Who goes on all the same is not held up again by the reader that it left behind. */
static void test_not_awaited_again(void **state)
{
	(void)state;
	AUTO_PTR(log_writer) w = writer(4 * MB);
	AUTO_PTR(log_reader) r = reader(0);

	assert_true(put_block(w));
	expect_frame(r, 1, LOG_STDOUT, NULL);
	assert_true(put_until_outrun(w) < 1000);
	while (log_writer_outruns(w))
		assert_true(put_block(w));
	assert_int_equal(put_until_outrun(w), 1000);
	log_reader_free(TAKE_PTR(r));
	assert_int_equal(put_until_outrun(w), 1000);
}

/* A frame that comes in single bytes is given once it is whole. */
static void test_torn_tail_waits(void **state)
{
	(void)state;
	AUTO_PTR(log_writer) w = writer(64 * MB);
	AUTO_PTR(log_reader) r = reader(0);
	struct log_frame f = {.seq = 2, .time_ns = 1, .stream = LOG_STDERR};
	struct text payload = TEXT("whole");
	char header[LOG_FRAME_SIZE];

	put_text(w, "one");
	expect_frame(r, 1, LOG_STDOUT, "one");
	log_frame_encode(&f, &payload, 1, header);
	for (size_t i = 0; i < sizeof(header); i++) {
		append(1, header + i, 1);
		expect(r, LOG_READ_NOTHING);
	}
	append(1, payload.p, payload.len - 1);
	expect(r, LOG_READ_NOTHING);
	append(1, payload.p + payload.len - 1, 1);
	assert_true(readable(r));
	expect_frame(r, 2, LOG_STDERR, "whole");
}

/* What a new shim cuts off and writes anew is read as if nothing had been there. */
static void test_cut_and_continued(void **state)
{
	(void)state;
	AUTO_PTR(log_writer) w = writer(64 * MB);
	AUTO_PTR(log_reader) r = reader(0);

	put_text(w, "one");
	expect_frame(r, 1, LOG_STDOUT, "one");
	append(1, "rubbish that is no frame at all, but long enough for one", 56);
	expect(r, LOG_READ_NOTHING);
	log_writer_free(TAKE_PTR(w));
	w = writer(64 * MB);
	expect(r, LOG_READ_NOTHING);
	put_text(w, "two");
	expect_frame(r, 2, LOG_STDOUT, "two");
}

static void write_header(uint64_t first_seq, uint64_t bytes_before)
{
	struct log_header h = {first_seq, bytes_before, 77};
	char header[LOG_HEADER_SIZE];
	auto_fd int fd = segment_fd(first_seq, O_WRONLY | O_CREAT | O_TRUNC);

	log_header_encode(&h, header);
	assert_int_equal(write(fd, header, sizeof(header)), sizeof(header));
}

static void write_segment(uint64_t first_seq, uint64_t bytes_before, const char *payload)
{
	struct log_header h = {first_seq, bytes_before, 77};
	struct log_frame f = {.seq = first_seq, .time_ns = 1, .stream = LOG_STDOUT};
	struct text t = text_of(payload);
	char header[LOG_HEADER_SIZE], frame[LOG_FRAME_SIZE];
	auto_fd int fd = segment_fd(first_seq, O_WRONLY | O_CREAT | O_TRUNC);

	log_header_encode(&h, header);
	log_frame_encode(&f, &t, 1, frame);
	assert_int_equal(write(fd, header, sizeof(header)), sizeof(header));
	assert_int_equal(write(fd, frame, sizeof(frame)), sizeof(frame));
	assert_int_equal(write(fd, t.p, t.len), t.len);
}

/* Damage in the middle of a log: a gap of unknown size, then the next segment. */
static void test_corrupt_goes_on(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct log_frame f;

	assert_int_equal(mkdirat(dir, "log", 0700), 0);
	write_segment(1, 0, "one");
	append(1, "rubbish that is no frame at all, but long enough for one", 56);
	AUTO_PTR(log_reader) r = reader(0);
	expect_frame(r, 1, LOG_STDOUT, "one");
	expect(r, LOG_READ_NOTHING);
	write_segment(5, 100, "five");
	assert_true(readable(r));
	assert_int_equal(log_reader_next(r, &f, &err), LOG_READ_FRAME);
	assert_true(f.stream == LOG_GAP && f.seq == 4 && f.time_ns == 77);
	assert_true(log_gap_lost(&f) == LOG_LOST_UNKNOWN);
	expect_frame(r, 5, LOG_STDOUT, "five");
	/* The damage can also hide nothing but itself. */
	append(5, "and more rubbish, with a length that no frame can have", 54);
	write_segment(6, 104, "six");
	expect_gap(r, 5, LOG_LOST_UNKNOWN);
	expect_frame(r, 6, LOG_STDOUT, "six");
	/* A torn end is final, too, once there is a younger segment. */
	append(6, "torn", 4);
	expect(r, LOG_READ_NOTHING);
	write_segment(7, 107, "seven");
	expect_gap(r, 6, LOG_LOST_UNKNOWN);
	expect_frame(r, 7, LOG_STDOUT, "seven");
	/* Who only wants what lies behind the damage hears nothing of it. */
	AUTO_PTR(log_reader) behind = reader(6);
	expect_frame(behind, 7, LOG_STDOUT, "seven");
}

static void test_damaged_oldest_header(void **state)
{
	(void)state;

	assert_int_equal(mkdirat(dir, "log", 0700), 0);
	close(segment_fd(3, O_WRONLY | O_CREAT));
	AUTO_PTR(log_reader) r = reader(0);
	expect(r, LOG_READ_NOTHING);
	write_segment(5, 100, "five");
	expect_gap(r, 4, LOG_LOST_UNKNOWN);
	expect_frame(r, 5, LOG_STDOUT, "five");
}

/* A writer that died, or found no room, behind the header. */
static void test_segment_without_frames(void **state)
{
	(void)state;

	assert_int_equal(mkdirat(dir, "log", 0700), 0);
	write_header(3, 0);
	AUTO_PTR(log_reader) r = reader(0);
	expect_gap(r, 2, 0);
	expect(r, LOG_READ_NOTHING);
	expect(r, LOG_READ_NOTHING);
	write_segment(4, 0, "four");
	expect_gap(r, 3, LOG_LOST_UNKNOWN);
	expect_frame(r, 4, LOG_STDOUT, "four");
	write_header(5, 4);
	expect(r, LOG_READ_NOTHING);
	write_segment(5, 4, "five");
	expect_frame(r, 5, LOG_STDOUT, "five");
}

/* Other files of the directory are nobody's segments. */
static void test_foreign_names(void **state)
{
	(void)state;
	static const char *const names[] = {"00000000000000000000.seg", "1.seg",
		"99999999999999999999.seg", "0000000000000000000a.seg", "00000000000000000001.seg~",
		"00000000000000000001.tmp"};
	uint64_t list[64];

	assert_int_equal(mkdirat(dir, "log", 0700), 0);
	auto_fd int log = openat(dir, "log", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		close(openat(log, names[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	write_segment(1, 0, "one");
	assert_int_equal(segments(list), 1);
	AUTO_PTR(log_reader) r = reader(0);
	expect_frame(r, 1, LOG_STDOUT, "one");
}

/*
 * All frames of all writers fit into the log, however late they are killed: one that was dropped
 * would be missing later.
 */
enum { WRITERS = 12, FRAMES_EACH = 1500, FRAMES_LAST = 5000, WHOLE_LOG = 256 * MB };
static_assert((WRITERS * FRAMES_EACH + FRAMES_LAST) / 7 * (PAYLOAD + 7 * 200LL) < WHOLE_LOG,
	"nothing is dropped");

/* A writer in a process of its own: it writes up to the frame `last`, then it ends or is killed. */
static pid_t start_writer(uint64_t last, bool ends)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	auto_error struct error err = ERROR_INIT;
	struct log_writer *w = NULL;
	static char bytes[PAYLOAD];
	if (log_writer_open(dir, WHOLE_LOG, 1, &w, &err) < 0)
		_exit(1);
	for (uint64_t seq = log_writer_stats(w).last_seq + 1; seq <= last; seq++) {
		struct text t = {bytes, seq % 7 ? seq % 100 + 8 : PAYLOAD};
		memcpy(bytes, &seq, sizeof(seq));
		if (!log_writer_append(w, LOG_STDOUT, 1, &t, 1))
			_exit(2);
	}
	while (!ends)
		pause();
	_exit(log_writer_end(w, 1, &err) < 0 ? 3 : 0);
}

/* Reads what there is; checks that it is the next. Returns the last answer. */
static enum log_read check_next(struct log_reader *r, uint64_t *seq)
{
	auto_error struct error err = ERROR_INIT;
	struct log_frame f;
	enum log_read got;

	while ((got = log_reader_next(r, &f, &err)) == LOG_READ_FRAME) {
		assert_int_equal(f.seq, ++*seq);
		if (f.stream == LOG_END)
			continue;
		assert_int_equal(f.stream, LOG_STDOUT);
		assert_int_equal(f.data.len, f.seq % 7 ? f.seq % 100 + 8 : PAYLOAD);
		assert_memory_equal(f.data.p, &f.seq, sizeof(f.seq));
	}
	assert_int_not_equal(got, LOG_READ_ERROR);
	return got;
}

/* Following writers that are killed at any moment: every frame, once, whole, in order. */
static void test_killed_writers(void **state)
{
	(void)state;
	AUTO_PTR(log_reader) r = NULL;
	uint64_t seq = 0, again = 0;
	int status;

	assert_int_equal(mkdirat(dir, "log", 0700), 0);
	r = reader(0);
	for (int i = 0; i < WRITERS; i++) {
		pid_t pid = start_writer((uint64_t)(i + 1) * FRAMES_EACH, false);
		int64_t until = clock_boottime_ms() + 1 + i;
		while (clock_boottime_ms() < until)
			check_next(r, &seq);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
	}
	pid_t pid = start_writer(seq + FRAMES_LAST, true);
	while (check_next(r, &seq) != LOG_READ_END)
		assert_true(readable(r));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	AUTO_PTR(log_reader) whole = reader(0);
	assert_int_equal(check_next(whole, &again), LOG_READ_END);
	assert_int_equal(again, seq);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_no_log_yet),
		IN_DIR(test_from_any_number),
		IN_DIR(test_wakes_up),
		IN_DIR(test_follows_rotation),
		IN_DIR(test_left_behind),
		IN_DIR(test_holds_deleted),
		IN_DIR(test_awaited),
		IN_DIR(test_not_awaited_again),
		IN_DIR(test_torn_tail_waits),
		IN_DIR(test_cut_and_continued),
		IN_DIR(test_corrupt_goes_on),
		IN_DIR(test_damaged_oldest_header),
		IN_DIR(test_segment_without_frames),
		IN_DIR(test_foreign_names),
		IN_DIR(test_killed_writers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

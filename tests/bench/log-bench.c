/*
 * Speed of a run's log in processor time, each next to a peer in the same run:
 *
 *     log-bench DIR [MIB]
 *
 * write: MIB of output through redactor, chunker and writer against plain write(2) of the same
 * bytes to one file. read: the log that is left against read(2) of a file of that size. redact:
 * one secret that does not occur, text of ordinary letters, against memchr for a newline; then 64
 * of them, of the kinds that there are: tokens, keys of many lines, passwords.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "executor/runlog/chunker.h"
#include "executor/runlog/log-reader.h"
#include "executor/runlog/log-writer.h"
#include "executor/runlog/redact.h"
#include "sys/clock.h"
#include "sys/file.h"

enum { READ_SIZE = 65536, CAP = 64 << 20 };

static char block[READ_SIZE];

/* Of the processor: other work on the machine does not count. */
static int64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static double seconds_since(int64_t start_us)
{
	return (double)(cpu_us() - start_us) / 1e6;
}

static void report(const char *what, double mib, double s, double peer_s)
{
	printf("%-22s %8.0f MiB/s   peer %8.0f MiB/s   time ratio %.2f\n", what, mib / s,
		mib / peer_s, s / peer_s);
}

static void fill_block(void)
{
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof(block); i++) {
		x = x * 1664525 + 1013904223;
		block[i] = (x >> 24) % 60 == 0 ? '\n' : (char)('a' + (x >> 24) % 26);
	}
}

static int plain_write(int dir, uint64_t blocks, double *ret_s)
{
	auto_fd int fd = openat(dir, "plain", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int64_t start = cpu_us();

	for (uint64_t i = 0; i < blocks; i++)
		if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
			return -1;
	*ret_s = seconds_since(start);
	return 0;
}

static int plain_read(int dir, uint64_t bytes, double *ret_s)
{
	auto_fd int fd = openat(dir, "plain", O_RDONLY | O_CLOEXEC);
	static char buffer[4 * READ_SIZE];
	int64_t start = cpu_us();

	for (uint64_t got = 0; got < bytes; got += sizeof(buffer))
		if (read(fd, buffer, sizeof(buffer)) <= 0)
			return -1;
	*ret_s = seconds_since(start);
	return 0;
}

/* The shim's path of a byte: redact, cut, append. */
static int log_write(int dir, uint64_t blocks, struct redactor *redactor, double *ret_s)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(log_writer) w = NULL;
	AUTO_PTR(redact_stream) stream = redact_stream_new(redactor);
	AUTO(str) scratch = STR_INIT(SIZE_MAX / 2);
	struct chunker chunker = CHUNKER_INIT;
	struct text parts[2];

	if (log_writer_open(dir, CAP, clock_realtime_ns(), &w, &err) < 0)
		return -1;
	int64_t start = cpu_us();
	for (uint64_t left = blocks * sizeof(block), n; left > 0; left -= n) {
		n = log_writer_fit(w) < left ? log_writer_fit(w) : left;
		struct text rest = redact_stream_write(stream, (struct text){block, n}, &scratch);
		while (chunker_next(&chunker, &rest, parts))
			if (!log_writer_append(w, LOG_STDOUT, clock_realtime_ns(), parts, 2))
				return -1;
	}
	if (log_writer_end(w, clock_realtime_ns(), &err) < 0)
		return -1;
	*ret_s = seconds_since(start);
	return 0;
}

static int log_read(int dir, uint64_t *ret_bytes, double *ret_s)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(log_reader) r = NULL;
	struct log_frame f;
	enum log_read got;

	if (log_reader_open(dir, 0, &r, &err) != 0)
		return -1;
	int64_t start = cpu_us();
	*ret_bytes = 0;
	while ((got = log_reader_next(r, &f, &err)) == LOG_READ_FRAME)
		*ret_bytes += f.data.len;
	*ret_s = seconds_since(start);
	return got == LOG_READ_END ? 0 : -1;
}

static int redact_only(uint64_t blocks, struct redactor *redactor, double *ret_s, double *ret_peer)
{
	AUTO_PTR(redact_stream) stream = redact_stream_new(redactor);
	AUTO(str) scratch = STR_INIT(SIZE_MAX / 2);
	size_t lines = 0, shown = 0;

	int64_t start = cpu_us();
	for (uint64_t i = 0; i < blocks; i++)
		shown += redact_stream_write(stream, (struct text){block, sizeof(block)}, &scratch)
				 .len;
	*ret_s = seconds_since(start);
	start = cpu_us();
	for (uint64_t i = 0; i < blocks; i++)
		for (const char *p = block; (p = memchr(p, '\n', (size_t)(block + READ_SIZE - p)));
			p++)
			lines++;
	*ret_peer = seconds_since(start);
	return shown > 0 && lines > 0 ? 0 : -1;
}

enum { SECRETS = 64, SECRET_SIZE = 48, KEY_LINES = 16 };

/* Of 64: 40 tokens with a usual prefix, 16 keys, 8 words of letters. */
static int add_secrets(struct redactor *r)
{
	static const char *const prefixes[] = {"ghp_", "sk-", "AKIA", "eyJ", "xoxb-"};
	auto_error struct error err = ERROR_INIT;
	uint32_t x = 7;

	for (unsigned i = 0; i < SECRETS; i++) {
		AUTO(str) value = STR_INIT(1 << 16);
		unsigned lines = i % 4 == 3 ? KEY_LINES : 1;
		if (lines > 1)
			str_add_text(&value, "-----BEGIN OPENSSH PRIVATE KEY-----\n");
		else if (i % 8)
			str_add_text(&value, prefixes[i % ARRAY_SIZE(prefixes)]);
		for (unsigned n = 0; n < lines * SECRET_SIZE; n++) {
			x = x * 1664525 + 1013904223;
			str_add_char(
				&value, lines > 1 && n % SECRET_SIZE == SECRET_SIZE - 1
						? '\n'
						: (char)((i % 8 ? 'A' : 'a') + (x >> 24) % 26));
		}
		if (redactor_add(r, (struct text){value.data, value.len}, &err) < 0)
			return -1;
	}
	return 0;
}

static int run(const char *path, uint64_t mib)
{
	auto_error struct error err = ERROR_INIT;
	auto_fd int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_PTR(redactor) none = redactor_new();
	AUTO_PTR(redactor) one = redactor_new();
	AUTO_PTR(redactor) many = redactor_new();
	uint64_t blocks = mib << 20 >> 16, bytes;
	double s, peer;

	if (plain_write(dir, blocks, &peer) < 0 || log_write(dir, blocks, none, &s) < 0)
		return -1;
	report("write", (double)mib, s, peer);
	if (log_read(dir, &bytes, &s) < 0 || plain_read(dir, bytes, &peer) < 0)
		return -1;
	report("read", (double)bytes / (1 << 20), s, peer);
	if (redactor_add(one, TEXT("ghp_16C7e42F292c6912E7710c838347Ae178B4a"), &err) < 0 ||
		redact_only(blocks, one, &s, &peer) < 0)
		return -1;
	report("redact", (double)mib, s, peer);
	if (add_secrets(many) < 0 || redact_only(blocks, many, &s, &peer) < 0)
		return -1;
	report("redact, 64 secrets", (double)mib, s, peer);
	if (file_remove_tree_at(dir, "log", &err) < 0 || log_write(dir, blocks, one, &s) < 0 ||
		plain_write(dir, blocks, &peer) < 0)
		return -1;
	report("write, one secret", (double)mib, s, peer);
	unlinkat(dir, "plain", 0);
	return file_remove_tree_at(dir, "log", &err);
}

int main(int argc, char **argv)
{
	uint64_t mib = 1024;

	if (argc < 2 || argc > 3 ||
		(argc == 3 && num_parse(text_of(argv[2]), 65536, &mib) != NUM_OK)) {
		fputs("usage: log-bench DIR [MIB]\n", stderr);
		return 2;
	}
	fill_block();
	if (run(argv[1], mib) < 0) {
		perror("log-bench");
		return 1;
	}
	return 0;
}

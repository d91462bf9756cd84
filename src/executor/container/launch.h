/*
 * The part of a start that holds values of variables: handed from dispatch to the supervisor in a
 * sealed memfd, never written to a file, in locked memory on both sides, wiped when released
 * (container-driver.md §8.4, §9.1, §15.1).
 *
 * The block is a row of texts, each with a NUL behind it, whose first byte says what it is: no
 * values go through an allocator that would leave them in memory, or that a program around libcloop
 * may have chosen.
 */
#pragma once

#include "base/error.h"
#include "base/secret.h"
#include "base/strv.h"

enum { LAUNCH_FILES_MAX = 256, LAUNCH_WORDS_MAX = 1024, LAUNCH_BYTES_MAX = 96 << 20 };

struct launch {
	/*
	 * Items are views: of what the dispatcher has, or of the block. run_env: environment of the
	 * `run` client, client_env and routes by name; expected: NAME=VALUE that must arrive
	 * (§9.6).
	 */
	struct strv run_env, expected;
	char *env_file; /* content for descriptor 3, or NULL; a view */
	/*
	 * Sizes of the lease's files, in the order of the plan. Their contents, one behind the
	 * other, are in a memfd of their own: any bytes, copied by nobody.
	 */
	size_t file_sizes[LAUNCH_FILES_MAX];
	size_t n_files;
	/* Of the run's session under an egress grant; p NULL = it has none; a view. */
	struct text egress_token;
	int64_t egress_deadline_ms; /* boottime */
	struct secret block;        /* that was read; p NULL = none was */
	struct secret *replaced;    /* texts that stand for those of the block */
	size_t n_replaced;
};
#define LAUNCH_INIT \
	((struct launch){ \
		.run_env = {.max = LAUNCH_WORDS_MAX}, .expected = {.max = LAUNCH_WORDS_MAX}})
void launch_done(struct launch *l);

/* A view behind the others; the text must live as long as the launch. -1: the list is full. */
must_check int launch_add(struct strv *list, const char *text);
/* The block; what *ret held is not looked at. */
void launch_write(const struct launch *l, struct secret *ret);
/* Takes the block in any case. -1: io, it is none. *ret is LAUNCH_INIT before. */
must_check int launch_read(struct secret *block, struct launch *ret, struct error *err);
/* Every `from` (not empty, not part of `to`) within *text, which is the launch's, becomes `to`. */
void launch_replace(struct launch *l, char **text, const char *from, struct text to);

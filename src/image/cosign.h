/*
 * The program cosign (image-trust.md §8.1, §8.2): where it is, what it gets to see, and what it
 * says. Which attempts are made: cosign-argv.h; who may ask again: trust/verify.h.
 */
#pragma once

#include "image/cosign-logins.h"
#include "image/cosign-process.h"

enum { COSIGN_LINE_MAX = 500, COSIGN_VERSION_MAX = 32 };

struct cosign_setup {
	const char *home; /* cloop's; <home>/cosign is cosign's */
	const struct image_reference *image;
	int64_t deadline_ms; /* of all calls together; boottime */
	int cancel_fd;       /* -1 = none */
};

struct cosign {
	char *program;
	struct strv env;
	struct cosign_logins logins;
	int64_t deadline_ms;
	int cancel_fd;
};
#define COSIGN_INIT \
	((struct cosign){.env = STRV_INIT(256), .logins = COSIGN_LOGINS_INIT, .cancel_fd = -1})
void cosign_done(struct cosign *c);

/* The positive outcome of cosign_open(). */
enum { COSIGN_MISSING = 1 };

/*
 * Finds cosign in the absolute components of PATH and prepares what it gets: an environment that is
 * built, a home and a login file of its own. 0, or COSIGN_MISSING. -1: of logins_find(), io.
 */
must_check int cosign_open(const struct cosign_setup *s, struct cosign *ret, struct error *err);

/*
 * One attempt. *line: the last line of its output that is not blank, for people (at most
 * COSIGN_LINE_MAX bytes, no control characters); "" when it said nothing. A program that cannot be
 * executed has failed, and the line says why.
 */
must_check enum cosign_end cosign_call(
	const struct cosign *c, const struct strv *argv, char line[COSIGN_LINE_MAX + 1]);
/* "v2.4.1" as `cosign version` says it, asked within a few seconds; "" when it does not. */
void cosign_version(const struct cosign *c, char ret[COSIGN_VERSION_MAX]);
/* A version before 3: signatures of newer ones are not found by it. Pure, as the next two. */
bool cosign_version_is_old(const char *version);
/* The version in what `cosign version` wrote; "" = none. */
void cosign_version_of(struct text output, char ret[COSIGN_VERSION_MAX]);
/* The last line of output as cosign_call() gives it. */
void cosign_last_line(struct text output, char line[COSIGN_LINE_MAX + 1]);

/*
 * The error model (ARCHITECTURE.md §7). A function that can fail returns 0 = done, -1 = failed with
 * `struct error *err` (its last parameter, never NULL) filled, or a positive value = an expected
 * outcome documented with that function.
 *
 * The message says what was being done to what, in lower case and without a full stop; the remedy
 * is a field of its own. Both are bounded (1,024 bytes) and cut at a character border.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "base/text.h"

#define ERROR_TEXT_MAX 1024

enum error_code {
	ERROR_NONE = 0,
#define ERROR(id, text, http, exit, remedy) ERROR_##id,
#include "base/error-list.h"
#undef ERROR
	ERROR_CODE_COUNT
};

struct error {
	enum error_code code;
	char message[ERROR_TEXT_MAX + 1];
	char remedy[ERROR_TEXT_MAX + 1]; /* empty: the default of the code */
	json_t *details;                 /* further members of the envelope, or NULL; owned */
};

#define ERROR_INIT ((struct error){0})
/* auto_error: `auto_error struct error err = ERROR_INIT;` */
#define auto_error __attribute__((cleanup(error_done)))

void error_done(struct error *err);
/* Forgets everything; the error can be filled again. */
void error_clear(struct error *err);

/* Fills err anew (code, message; remedy and details are dropped). Always returns -1. */
int error_set(struct error *err, enum error_code code, const char *fmt, ...) printf_like(3, 4);
/* The same with ": <strerror(errnum)>" behind the message. */
int error_set_errno(struct error *err, enum error_code code, int errnum, const char *fmt, ...)
	printf_like(4, 5);
/* Replaces the default remedy. Always returns -1. */
int error_set_remedy(struct error *err, const char *fmt, ...) printf_like(2, 3);
/* Puts "<text>: " in front of the message. Always returns -1. */
int error_prefix(struct error *err, const char *fmt, ...) printf_like(2, 3);
/* Adds one member to the envelope (constraint, alternatives, names, rule, errors). Takes value. */
int error_add_detail(struct error *err, const char *key, json_t *value);
/* Moves *from into *to, freeing what was there. */
void error_move(struct error *to, struct error *from);

static inline bool error_is(const struct error *err, enum error_code code)
{
	return err->code == code;
}

const char *error_code_text(enum error_code code);
/* ERROR_NONE when no such code exists. Several enum values may share a text; the first is given. */
enum error_code error_code_from_text(struct text code);
int error_code_http(enum error_code code);
/* Exit status of `cloop run`; every other command exits with 1 (2 for ERROR_USAGE). */
int error_code_run_exit(enum error_code code);
const char *error_remedy(const struct error *err);

/* The envelope of sandbox-spec.md §15: {"error","code","status","remediation", details…}. */
must_check json_t *error_to_json(const struct error *err);
/* Reads an envelope back (from a socket or a record, untrusted): what does not fit is `internal`.
 */
void error_from_json(struct error *err, json_t *envelope);

/*
 * An analyzer sees one file at a time; this tells it that these always answer -1, so that it does
 * not follow paths on which a failed function looks as if it had succeeded.
 */
#if defined(__clang_analyzer__) && !defined(ERROR_HOME)
#define error_set(...) ((void)error_set(__VA_ARGS__), -1)
#define error_set_errno(...) ((void)error_set_errno(__VA_ARGS__), -1)
#define error_set_remedy(...) ((void)error_set_remedy(__VA_ARGS__), -1)
#define error_prefix(...) ((void)error_prefix(__VA_ARGS__), -1)
#endif

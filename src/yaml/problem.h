/*
 * What is wrong with a text that somebody wrote (sandbox-spec.md §4): records with a place, a
 * stable code, a message and a remedy; and the list that collects them, bounded and in file order.
 * Used for errors and for warnings, of sandbox.yaml and of config.yaml.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/error.h"

enum {
	PROBLEMS_ERRORS_MAX = 100,    /* errors listed of one text; then one too_many_errors */
	PROBLEMS_WARNINGS_MAX = 4096, /* more than the schemas can give */
	PROBLEM_TEXT_MAX = 1024,      /* bytes of a message or remedy; cut at a character */
	PROBLEM_QUOTE_MAX = 64,       /* bytes of an author's text in a message */
};

enum problem_code {
	PROBLEM_NONE = 0,
#define PROBLEM(id, text, remedy) PROBLEM_##id,
#include "yaml/problem-list.h"
#undef PROBLEM
	PROBLEM_CODE_COUNT
};
const char *problem_code_text(enum problem_code code);

/* Both start at 1; a column counts characters. 0 = no position. */
struct position {
	unsigned line, column;
};
#define POSITION_NONE ((struct position){0, 0})

struct problem {
	char *path; /* "" = the text as a whole */
	struct position at;
	const char *code; /* static */
	char *message;
	char *remedy;
	size_t order; /* of being added; breaks ties of the position */
};

/* {"path","line","column","code","message","remediation"}; line and column null without one. */
must_check json_t *problem_to_json(const struct problem *p);

struct problems {
	struct problem *v;
	size_t n, cap;
	size_t max;   /* records listed; one more says that there are others */
	size_t total; /* added, listed or not */
	bool full;    /* v holds the max + 1 first ones */
	bool kept;    /* the last addition is v[n - 1] */
};
#define PROBLEMS_INIT(maximum) ((struct problems){.max = (maximum)})

void problems_done(struct problems *ps);
/* Forgets everything. */
void problems_clear(struct problems *ps);
/* Would a problem at this place still be listed? For callers that save themselves the trouble. */
bool problems_wants(const struct problems *ps, struct position at);
/* Adds one; its remedy is the default of the code. */
void problems_add(struct problems *ps, enum problem_code code, struct position at, const char *path,
	const char *fmt, ...) printf_like(5, 6);
/* The same with the code, the message and the remedy of an error (of a check that others share). */
void problems_add_error(
	struct problems *ps, struct position at, const char *path, const struct error *err);
/* Replaces the remedy of what was added last (nothing, if that was not listed). */
void problems_set_remedy(struct problems *ps, const char *fmt, ...) printf_like(2, 3);
/* Moves all of `from` behind `to`, leaving `from` empty. */
void problems_move(struct problems *to, struct problems *from);
/*
 * File order: by line, column, order of addition; without a position first. With more than `max`,
 * the first max and one `too_many_errors` at the place of the next. Call it once, at the end.
 */
void problems_finish(struct problems *ps);
/* Is one with this code in the list? */
bool problems_has(const struct problems *ps, enum problem_code code);
must_check json_t *problems_to_json(const struct problems *ps);
/*
 * "FILE:LINE:COLUMN: PATH: message" of the first, and how many more there are; into out, cut to its
 * maximum. The list must not be empty.
 */
void problems_summary(const struct problems *ps, const char *file, struct str *out);

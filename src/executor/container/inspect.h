/* What `ENGINE inspect --type=container` says, the same for both engines (container-driver.md
 * §4.4). */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strv.h"

struct inspection {
	char *id;     /* 64 hexadecimal digits */
	char *status; /* the engine's word, lower case */
	char *handle; /* label cloop.handle, or NULL */
	bool running; /* running, paused, restarting or stopping */
	bool oom_killed;
	pid_t pid;                     /* 0 = none */
	int64_t exit_code;             /* -1 = unknown or still running */
	char *started_at, *created_at; /* the engine's text, may be NULL */
	json_t *labels;                /* object or NULL; owned */
	struct strv env;               /* NAME=VALUE of the container's configuration */
};
#define INSPECTION_INIT ((struct inspection){.exit_code = -1, .env = STRV_INIT(4096)})
void inspection_done(struct inspection *i);
/* Its process was started once: the engine has a time for that. */
bool inspect_has_started(const struct inspection *i);

/* One object of the answer's list. */
must_check int inspect_read(const json_t *object, struct inspection *ret, struct error *err);
/* The engine's words for a container that it does not have; any other failure is no answer. */
bool inspect_says_unknown(struct text words);
/* Of the client's stdout: an answer holds the environment, which may be 2 MiB of escapes. */
enum { INSPECT_ANSWER_MAX = 16 << 20 };
/* The whole list; NULL: engine_failed. */
must_check json_t *inspect_read_list(struct text json, struct error *err);
/* The first object of the list. engine_failed when the answer is not of the form. */
must_check int inspect_parse(struct text json, struct inspection *ret, struct error *err);

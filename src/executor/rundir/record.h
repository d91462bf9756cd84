/*
 * The record of a run: one JSON object, `status.json` of its directory and the answer of every
 * command that shows a run (ARCHITECTURE.md §6). Members that only a supervisor needs are kept
 * below "supervision" and left out of what people see.
 */
#pragma once

#include "base/json.h"
#include "executor/rundir/rundir.h"

#define RECORD_FILE "status.json"
#define REQUEST_FILE "request.json"

/* What is known before anything happens; strings are copied, NULL gives JSON null. */
struct record_facts {
	const char *handle, *executor_id, *executor_kind, *isolation, *project, *title;
	int64_t task_id; /* 0: of none */
	const char *image_requested, *image, *image_digest, *sandbox_sha256, *setup_sha256;
	bool reproducible;
};
must_check json_t *record_new(const struct record_facts *f);
/*
 * What its supervisor reads. rebuild: for a new one, to which a record that is damaged or gone
 * (rundir_damaged) is made anew of these facts: how far the run had come nobody knows, so that it
 * can only be ended, and a mark says so. NULL: such a record is an error as any other. NULL + err.
 */
must_check json_t *record_take(
	const struct rundir *run, const struct record_facts *rebuild, struct error *err);
enum record_rebuilt { RECORD_AS_WRITTEN, RECORD_WAS_GONE, RECORD_WAS_DAMAGED };
enum record_rebuilt record_rebuilt(json_t *record);
/* What the error of such a run says. */
#define RECORD_REBUILT_LOST \
	"the record of the run was damaged or gone, and its supervisor dead: how it ended is not " \
	"known"

/* States that never change again: exited, failed, killed. */
bool record_final(const json_t *record);
const char *record_state(const json_t *record); /* never NULL */
/* What the directory says now; a record that cannot be read is not final. */
bool record_final_now(const struct rundir *run);
/* A final state has no `reason` (disk_low: why the run waits, or is frozen) any more. */
void record_set_state(json_t *record, const char *state);
/* Error of a run that did not start: error, code and remediation from the envelope. */
void record_set_error(json_t *record, const struct error *err);
/* Adds {code, message}; the same code and message twice is one. At most 100. */
void record_warn(json_t *record, const char *code, const char *fmt, ...) printf_like(3, 4);
/* It has a warning with this code. record: NULL = no. */
bool record_warned(const json_t *record, const char *code);
/* RFC 3339 or null into `started_at`, `finished_at`. */
void record_set_time(json_t *record, const char *key, int64_t realtime_ns);
/* The supervisor's own members (`released`, `boot_id`, deadline, intents); never NULL. */
json_t *record_supervision(json_t *record);
/* A copy as shown to people: without `supervision`. */
must_check json_t *record_public(json_t *record);
/* Exit status that `cloop run` and `cloop wait` pass on; 125 while there is none. */
int record_cli_exit(const json_t *record);

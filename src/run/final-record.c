#include "run/final-record.h"

#include <limits.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "executor/rundir/record.h"

enum {
	WORD_MAX = 128,
	TEXT_MAX = 2048,
	CLAIM_DIGITS = 32,
	SHA256_DIGITS = 64,
	SIGNAL_MAX = 64,
	EXIT_MAX = 255,
	NONE = -1,
};
#define LIMIT_MB_MAX (1 << 20)
#define AMOUNT_MAX ((int64_t)1 << 50)

void final_record_done(struct final_record *f)
{
	free(f->project);
}

/* A text of at most max bytes without NUL; else none. */
static struct text text_member(const json_t *record, const char *key, size_t max)
{
	struct text t = json_get_text(record, key);

	return t.p && t.len <= max && !text_has_byte(t, '\0') ? t : (struct text){NULL, 0};
}

static struct text hash_member(const json_t *record, const char *key)
{
	struct text t = json_get_text(record, key);

	return t.p && text_is_hex(t, SHA256_DIGITS) ? t : (struct text){NULL, 0};
}

static struct text time_member(const json_t *record, const char *key)
{
	struct text t = text_member(record, key, WORD_MAX);
	int64_t ns;

	return t.p && num_parse_rfc3339(t, &ns) ? t : (struct text){NULL, 0};
}

static int64_t number_member(const json_t *object, const char *key, int64_t min, int64_t max)
{
	int64_t n = json_get_int(object, key, NONE);

	return n >= min && n <= max ? n : NONE;
}

static int64_t task_of(const json_t *record)
{
	int64_t id = number_member(record, "task_id", 1, INT64_MAX);

	return id == NONE ? 0 : id;
}

static const char *claim_of(const json_t *record)
{
	const json_t *supervision = json_object_get(record, "supervision");

	return text_is_hex(json_get_text(supervision, "task_claim"), CLAIM_DIGITS)
		       ? json_get_string(supervision, "task_claim")
		       : NULL;
}

/* The record's member is for people: it has what is no UTF-8 escaped. */
static char *project_of(const json_t *record)
{
	const json_t *supervision = json_object_get(record, "supervision");
	auto_free char *exact = json_exact_bytes(json_object_get(supervision, "project"));
	struct text shown = text_member(record, "project", PATH_MAX);

	if (!exact && shown.p)
		exact = mem_strndup(shown.p, shown.len);
	return exact && exact[0] == '/' && strlen(exact) < PATH_MAX ? TAKE_PTR(exact) : NULL;
}

static void read_texts(const json_t *record, struct store_run *row)
{
	row->title = text_member(record, "title", TEXT_MAX);
	row->executor_id = text_member(record, "executor_id", WORD_MAX);
	row->executor_kind = text_member(record, "executor_kind", WORD_MAX);
	row->isolation = text_member(record, "isolation", WORD_MAX);
	row->error = text_member(record, "error", TEXT_MAX);
	row->code = text_member(record, "code", WORD_MAX);
	row->image_requested = text_member(record, "image_requested", TEXT_MAX);
	row->image = text_member(record, "image", TEXT_MAX);
	row->image_digest = text_member(record, "image_digest", TEXT_MAX);
	row->sandbox_sha256 = hash_member(record, "sandbox_sha256");
	row->setup_sha256 = hash_member(record, "setup_sha256");
	row->started_at = time_member(record, "started_at");
	row->finished_at = time_member(record, "finished_at");
}

static void read_numbers(const json_t *record, struct store_run *row)
{
	const json_t *usage = json_object_get(record, "usage");
	const json_t *breach = json_object_get(record, "breach");
	const json_t *supervision = json_object_get(record, "supervision");

	row->exit_code = number_member(record, "exit_code", 0, EXIT_MAX);
	row->signal = number_member(record, "signal", 1, SIGNAL_MAX);
	row->cli_exit = number_member(supervision, "cli_exit", 0, EXIT_MAX);
	row->wall_ms = number_member(usage, "wall_ms", 0, AMOUNT_MAX);
	row->disk_used_mb = number_member(usage, "disk_used_mb", 0, AMOUNT_MAX);
	row->disk_limit_mb = number_member(breach, "limit_mb", 1, LIMIT_MB_MAX);
	row->reproducible = json_get_bool(record, "reproducible", false);
}

int final_record_read(
	const char *handle, const json_t *record, struct final_record *ret, struct error *err)
{
	struct final_record f = {.row = {.handle = text_of(handle)}};

	if (!json_is_object(record) || !text_is(json_get_text(record, "handle"), handle))
		return error_set(
			err, ERROR_IO, "%s of run %s is no record of it", RECORD_FILE, handle);
	if (!record_final(record))
		return FINAL_RECORD_NOT_FINAL;
	int outcome = run_outcome_from_text(json_get_text(record, "outcome"));
	if (outcome < 0)
		return error_set(
			err, ERROR_IO, "the record of run %s does not say how it ended", handle);
	f.project = project_of(record);
	if (!f.project)
		return error_set(err, ERROR_IO, "the record of run %s names no project", handle);
	f.outcome = (enum run_outcome)outcome;
	f.row.project = text_of(f.project);
	f.row.state = json_get_text(record, "state");
	f.row.outcome = text_of(run_outcome_text(f.outcome));
	f.row.task = task_of(record);
	f.claim = claim_of(record);
	read_texts(record, &f.row);
	read_numbers(record, &f.row);
	if (f.outcome != OUTCOME_DISK_LIMIT)
		f.row.disk_limit_mb = NONE;
	*ret = f;
	return 0;
}

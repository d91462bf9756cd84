/*
 * A run's record as it is read back from the disk, and what else comes as such an object: what the
 * ledger takes of it is within its columns' forms, a breach of a disk limit is one, and an envelope
 * of an error is read and written as the same.
 */
#include <assert.h>
#include <limits.h>

#include "executor/rundir/record.h"
#include "limits/disk-breach.h"
#include "run/final-record.h"
#include "json-mutate.h"

#define HANDLE "c-0123456789ab"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_texts(const struct store_run *row)
{
	const struct text texts[] = {row->project, row->title, row->executor_id, row->executor_kind,
		row->isolation, row->error, row->code, row->image_requested, row->image,
		row->image_digest, row->sandbox_sha256, row->setup_sha256, row->started_at,
		row->finished_at};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert(!text_has_byte(texts[i], '\0') && texts[i].len <= PATH_MAX);
	assert(row->project.p[0] == '/' && text_is(row->handle, HANDLE));
	assert(!row->setup_sha256.p || text_is_hex(row->setup_sha256, 64));
	assert(row->exit_code >= -1 && row->exit_code <= 255 && row->task >= 0);
	assert(row->signal == -1 || (row->signal >= 1 && row->signal <= 64));
	assert(row->wall_ms >= -1 && row->disk_used_mb >= -1 && row->disk_limit_mb >= -1);
}

static void check_record(json_t *record)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(final_record) f = {.project = NULL};
	int r = final_record_read(HANDLE, record, &f, &err);

	assert(r < 0 || record_final(record) == (r == 0));
	if (r == 0)
		check_texts(&f.row);
	auto_json *shown = record_public(record);
	assert(!json_object_get(shown, "supervision"));
	(void)record_cli_exit(record);
}

static void check_breach(const json_t *breach)
{
	AUTO(disk_breach) b = DISK_BREACH_INIT;
	AUTO(disk_breach) again = DISK_BREACH_INIT;

	if (disk_breach_read(TEXT("disk_limit"), breach, &b) != 0)
		return;
	assert(b.limit_mb > 0 && b.used_bytes > b.limit_mb << 20);
	auto_json *written = disk_breach_to_json(&b);
	int r = disk_breach_read(TEXT("disk_limit"), written, &again);
	assert(r == 0 && again.used_bytes == b.used_bytes && again.limit_mb == b.limit_mb);
	auto_free char *text = disk_breach_text(&b);
	assert(*text && !text_has_control(text_of(text)));
	assert(disk_breach_read(TEXT("ok"), breach, &again) == 1);
}

static void check_envelope(json_t *object)
{
	auto_error struct error first = ERROR_INIT, second = ERROR_INIT;

	error_from_json(&first, object);
	assert(first.code != ERROR_NONE);
	auto_json *a = error_to_json(&first);
	error_from_json(&second, a);
	assert(a && first.code == second.code);
	auto_json *b = error_to_json(&second);
	assert(b && json_object_size(a) == json_object_size(b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	struct text t = {(const char *)data, size};
	auto_json *object = json_read(t, size, "record", ERROR_IO, &err);

	if (!json_is_object(object))
		return 0;
	check_record(object);
	check_breach(object);
	check_breach(json_object_get(object, "breach"));
	check_envelope(object);
	return 0;
}

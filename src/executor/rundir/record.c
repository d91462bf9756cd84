#include "executor/rundir/record.h"

#include <assert.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/clock.h"
#include "sys/log.h"

enum { WARNINGS_MAX = 100, EXIT_NOT_STARTED = 125 };

#define REBUILT "rebuilt"

json_t *record_new(const struct record_facts *f)
{
	json_t *r = json_object();
	const struct {
		const char *key, *value;
	} strings[] = {
		{"handle", f->handle},
		{"executor_id", f->executor_id},
		{"executor_kind", f->executor_kind},
		{"isolation", f->isolation},
		{"project", f->project},
		{"task_id", NULL},
		{"title", f->title},
		{"state", "pending"},
		{"outcome", NULL},
		{"exit_code", NULL},
		{"signal", NULL},
		{"error", NULL},
		{"code", NULL},
		{"remediation", NULL},
		{"image_requested", f->image_requested},
		{"image", f->image},
		{"image_digest", f->image_digest},
		{"sandbox_sha256", f->sandbox_sha256},
		{"setup_sha256", f->setup_sha256},
	};

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		json_object_set_new(r, strings[i].key, json_from_string(strings[i].value));
	if (f->task_id > 0)
		json_object_set_new(r, "task_id", json_integer(f->task_id));
	json_object_set_new(r, "reproducible", json_boolean(f->reproducible));
	json_object_set_new(r, "limits", json_object());
	json_object_set_new(r, "usage",
		json_pack("{s:n, s:n, s:n, s:n}", "wall_ms", "cpu_ms", "memory_peak_bytes",
			"disk_used_mb"));
	json_object_set_new(r, "log",
		json_pack("{s:i, s:i, s:i}", "bytes", 0, "dropped_bytes", 0, "last_seq", 0));
	json_object_set_new(r, "started_at", json_null());
	json_object_set_new(r, "finished_at", json_null());
	json_object_set_new(r, "warnings", json_array());
	json_object_set_new(r, "supervision", json_object());
	return r;
}

json_t *record_take(const struct rundir *run, const struct record_facts *rebuild, struct error *err)
{
	json_t *record = rundir_read(run, RECORD_FILE, err);

	if (record || !rebuild || !rundir_damaged(run, RECORD_FILE))
		return record;
	log_warning("%s", err->message);
	error_clear(err);
	record = record_new(rebuild);
	bool gone = faccessat(run->fd, RECORD_FILE, F_OK, AT_SYMLINK_NOFOLLOW) < 0;
	json_object_set_new(record_supervision(record), REBUILT,
		json_integer(gone ? RECORD_WAS_GONE : RECORD_WAS_DAMAGED));
	return record;
}

enum record_rebuilt record_rebuilt(json_t *record)
{
	int64_t n = json_get_int(record_supervision(record), REBUILT, 0);

	return n == RECORD_WAS_GONE || n == RECORD_WAS_DAMAGED ? (enum record_rebuilt)n
							       : RECORD_AS_WRITTEN;
}

const char *record_state(const json_t *record)
{
	const char *state = json_get_string(record, "state");

	return state ? state : "unknown";
}

bool record_final(const json_t *record)
{
	struct text state = text_of(record_state(record));

	return text_is(state, "exited") || text_is(state, "failed") || text_is(state, "killed");
}

bool record_final_now(const struct rundir *run)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *record = rundir_read(run, RECORD_FILE, &err);

	return record && record_final(record);
}

void record_set_state(json_t *record, const char *state)
{
	json_object_set_new(record, "state", json_string(state));
	if (record_final(record))
		json_object_del(record, "reason");
}

void record_set_error(json_t *record, const struct error *err)
{
	auto_json *envelope = error_to_json(err);
	const char *keys[] = {"error", "code", "remediation"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		json_object_set(record, keys[i], json_object_get(envelope, keys[i]));
}

void record_warn(json_t *record, const char *code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	auto_free char *message = mem_vprintf(fmt, ap);
	va_end(ap);
	json_t *list = json_object_get(record, "warnings");
	json_t *entry = json_object();
	json_object_set_new(entry, "code", json_string(code));
	json_object_set_new(entry, "message", json_from_string(message));
	size_t i;
	json_t *other;
	json_array_foreach(list, i, other) if (json_equal(other, entry) || i + 1 >= WARNINGS_MAX)
	{
		json_decref(entry);
		return;
	}
	json_array_append_new(list, entry);
}

bool record_warned(const json_t *record, const char *code)
{
	size_t i;
	json_t *warning;

	json_array_foreach(json_object_get(record, "warnings"), i, warning)
	{
		if (text_is(json_get_text(warning, "code"), code))
			return true;
	}
	return false;
}

void record_set_time(json_t *record, const char *key, int64_t realtime_ns)
{
	char text[CLOCK_TEXT_SIZE];

	clock_format(realtime_ns, text);
	json_object_set_new(record, key, json_string(text));
}

json_t *record_supervision(json_t *record)
{
	assert(record);
	json_t *s = json_object_get(record, "supervision");

	if (!json_is_object(s)) {
		s = json_object();
		json_object_set_new(record, "supervision", s);
	}
	return s;
}

json_t *record_public(json_t *record)
{
	json_t *copy = json_copy(record);

	json_object_del(copy, "supervision");
	return copy;
}

int record_cli_exit(const json_t *record)
{
	const json_t *supervision = json_object_get(record, "supervision");

	return (int)json_get_int(supervision, "cli_exit", EXIT_NOT_STARTED);
}

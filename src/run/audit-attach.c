#include "run/audit-attach.h"

#include "store/audit.h"
#include "sys/clock.h"
#include "sys/log.h"

/* Nobody else knows of a session: a ledger that others hold for longer is asked again. */
enum { BUSY_FOR_MS = 30000, AGAIN_MS = 50 };

static json_t *known(const json_t *record, const char *key)
{
	return json_from_string(json_get_string(record, key));
}

static json_t *make_payload(const struct audit_attach *a)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:I, s:b, s:b}", "run", a->handle, "project",
		known(a->record, "project"), "executor_id", known(a->record, "executor_id"),
		"command", json_from_string(a->command), "session", (json_int_t)a->session, "write",
		a->write, "tty", a->tty);
}

static int try_append(
	const struct audit_attach *a, const struct store_audit_event *event, struct error *err)
{
	AUTO_PTR(store) store = NULL;

	return store_open(a->home->path, &store, err) < 0 ||
			       store_audit_append(store, event, err) < 0
		       ? -1
		       : 0;
}

static int append(
	const struct audit_attach *a, const char *action, const json_t *payload, struct error *err)
{
	int64_t until = clock_boottime_ms() + BUSY_FOR_MS;
	struct store_audit_event event = {
		.action = action, .entity = "run", .actor = a->actor, .payload = payload};

	while (try_append(a, &event, err) < 0) {
		if (!error_is(err, ERROR_STORE_BUSY) || clock_boottime_ms() >= until)
			return -1;
		error_clear(err);
		clock_sleep_ms(AGAIN_MS);
	}
	return 0;
}

int audit_attach_check(const struct audit_attach *a, struct error *err)
{
	AUTO_PTR(store) store = NULL;

	return store_open(a->home->path, &store, err);
}

int audit_attach_open(const struct audit_attach *a, struct error *err)
{
	auto_json *payload = make_payload(a);

	return append(a, "attach.open", payload, err);
}

void audit_attach_close(const struct audit_attach *a)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *payload = make_payload(a);

	json_object_set_new(payload, "exit_code", json_from_count(a->exit_code));
	json_object_set_new(payload, "left", json_from_count(a->left));
	if (a->left < 0)
		json_object_set_new(payload, "leftover", json_string("unknown"));
	json_object_set_new(payload, "reason", json_from_string(a->reason));
	if (append(a, "attach.close", payload, &err) < 0)
		log_warning("the session's end is not in the audit trail: %s", err.message);
}

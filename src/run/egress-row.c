#include "run/egress-row.h"

#include "base/json.h"
#include "base/mem.h"
#include "store/audit.h"

enum { POLICY_MAX = 1 << 20 };

void egress_row_done(struct egress_row *r)
{
	free(r->id);
	free(r->grant);
	free(r->run);
	free(r->project);
	free(r->executor);
	free(r->subject);
	free(r->boot_id);
}

static char *copy(struct text t)
{
	return mem_strndup(t.p ? t.p : "", t.len);
}

void egress_row_read(void *data, const struct store_egress_session *e)
{
	auto_error struct error ignored = ERROR_INIT;
	auto_json *policy =
		json_read(e->policy, POLICY_MAX, "the policy", ERROR_STORE_CORRUPT, &ignored);
	struct egress_row *r = data;

	*r = (struct egress_row){
		.id = copy(e->id),
		.grant = copy(e->grant),
		.run = copy(e->run),
		.project = copy(e->project),
		.executor = copy(e->executor),
		.subject = copy(e->subject),
		.boot_id = copy(e->boot_id),
		.deadline = e->deadline,
		.window = json_get_int(policy, "session_ttl_s", 0),
		.bytes_up = e->bytes_up,
		.bytes_down = e->bytes_down,
		.events_read = e->events_read,
		.open = e->open,
	};
	r->opened = (struct two_clocks){e->opened_at, e->boottime_ms, text_of(r->boot_id)};
}

int egress_row_audit(struct store *s, const struct egress_row *r, const char *action,
	const char *actor, json_t *more, struct error *err)
{
	auto_json *payload = json_pack("{s:s, s:s, s:o, s:s, s:s, s:o, s:o, s:s}", "decision",
		"allow", "actor", actor, "subject", json_from_string(r->subject), "grant_id",
		r->grant, "session", r->id, "executor_id", json_from_string(r->executor), "project",
		json_from_string(r->project), "handle", r->run);
	struct store_audit_event event = {
		.action = action, .entity = "egress", .actor = actor, .payload = payload};

	json_object_update(payload, more);
	json_decref(more);
	return store_audit_add(s, &event, err);
}

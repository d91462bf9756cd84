#include "executor/container/plan-egress.h"

#include "base/json.h"
#include "base/mem.h"

void plan_egress_done(struct plan_egress *e)
{
	egress_session_done(&e->session);
	free(e->address);
	e->address = NULL;
	e->present = false;
}

int plan_egress_set(struct plan_egress *e, const struct egress_session *session, struct error *err)
{
	auto_json *object = egress_session_to_json(session);

	if (egress_session_read(object, &e->session, err) < 0)
		return -1;
	e->present = true;
	return 0;
}

json_t *plan_egress_to_json(const struct plan_egress *e)
{
	if (!e->present)
		return json_null();
	json_t *j = egress_session_to_json(&e->session);
	json_object_set_new(j, "address", json_from_string(e->address));
	return j;
}

int plan_egress_from_json(json_t *j, struct plan_egress *ret)
{
	auto_error struct error ignored = ERROR_INIT;

	if (!j || json_is_null(j))
		return 0;
	ret->present = egress_session_read(j, &ret->session, &ignored) == 0;
	mem_set_string(&ret->address, json_get_string(j, "address"));
	return ret->present ? 0 : -1;
}

char *plan_egress_pending_url(const char *session)
{
	return mem_printf("http://%s:@0.0.0.0:0", session);
}

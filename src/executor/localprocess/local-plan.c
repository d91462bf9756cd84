#include "executor/localprocess/local-plan.h"

void local_plan_done(struct local_plan *p)
{
	free(p->project);
	strv_done(&p->command);
	strv_done(&p->redact);
	*p = LOCAL_PLAN_INIT;
}

json_t *local_plan_to_json(const struct local_plan *p)
{
	return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I}", "project", json_exact(p->project),
		"command", json_exact_list(&p->command), "redact", json_exact_list(&p->redact),
		"stop_grace_ms", (json_int_t)p->stop_grace_ms, "timeout_ms",
		(json_int_t)p->timeout_ms, "log_max_mb", (json_int_t)p->log_max_mb);
}

static int missing(struct error *err, const char *key)
{
	return error_set(
		err, ERROR_IO, "request.json: member %s is missing or of the wrong type", key);
}

static int read_number(const json_t *j, const char *key, int64_t *ret, struct error *err)
{
	*ret = json_get_int(j, key, -1);
	return *ret < 0 ? missing(err, key) : 0;
}

int local_plan_from_json(const json_t *j, struct local_plan *ret, struct error *err)
{
	ret->project = json_exact_bytes(json_object_get(j, "project"));
	if (!ret->project)
		return missing(err, "project");
	if (json_exact_list_bytes(json_object_get(j, "command"), &ret->command) < 0 ||
		ret->command.n == 0)
		return missing(err, "command");
	if (json_exact_list_bytes(json_object_get(j, "redact"), &ret->redact) < 0)
		return missing(err, "redact");
	if (read_number(j, "stop_grace_ms", &ret->stop_grace_ms, err) < 0 ||
		read_number(j, "timeout_ms", &ret->timeout_ms, err) < 0)
		return -1;
	return read_number(j, "log_max_mb", &ret->log_max_mb, err);
}

#include "executor/container/supervise/refresh.h"

#include <string.h>

#include "base/mem.h"
#include "executor/container/supervise/mask.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/fault.h"

static const struct plan_secret_file *find(struct supervisor *s, const char *name)
{
	const struct plan_lease *l = &s->plan.lease;

	if (!lease_has_file(s, name))
		return NULL;
	for (size_t i = 0; i < l->n_files; i++)
		if (strcmp(l->files[i].name, name) == 0)
			return &l->files[i];
	return NULL;
}

static int replace(struct supervisor *s, const struct plan_secret_file *file, struct text bytes,
	struct error *err)
{
	struct stage_file content = {file->name, file->mode, bytes};

	s->unmasked = 0;
	if (mask_value(s, bytes, err) < 0)
		return -1;
	mask_note(s);
	fault_hit("refresh:masked");
	return stage_replace(&s->lease.stage, &content, err);
}

int refresh_run(
	void *data, const json_t *request, struct text bytes, json_t **ret, struct error *err)
{
	struct supervisor *s = data;
	struct text lease = json_get_text(request, "lease"), named = json_get_text(request, "name");
	auto_free char *name = mem_strndup(named.p ? named.p : "", named.len);

	(void)ret;
	if (s->phase == PHASE_ENDING || s->phase == PHASE_OVER)
		return error_set(
			err, ERROR_SECRET_NOT_DELIVERED, "run %s is ending", s->run.handle);
	const struct plan_secret_file *file = find(s, name);
	if (!s->plan.lease.id || !text_is(lease, s->plan.lease.id) || !file)
		return error_set(err, ERROR_SECRET_NOT_DELIVERED,
			"run %s does not have the file %s of lease %s", s->run.handle,
			quoted(named), quoted(lease));
	if (s->phase == PHASE_ADOPTING && lease_restore(s, err) < 0)
		return -1;
	if (s->lease.stage.fd < 0)
		return error_set(err, ERROR_SECRET_STAGE_FAILED, "the run's files are not staged");
	return replace(s, file, bytes, err);
}

#include "run/ceilings.h"

#include "base/json.h"
#include "base/mem.h"
#include "executor/executor.h"
#include "limits/effective.h"
#include "limits/render.h"
#include "store/audit.h"
#include "store/ceiling.h"
#include "store/journal.h"
#include "store/project.h"
#include "store/query.h"

int ceilings_load(struct store *s, const char *executor, const char *project, struct ceilings *ret,
	struct error *err)
{
	ret->of[CEILING_EXECUTOR] = (struct limits){0};
	ret->of[CEILING_PROJECT] = (struct limits){0};
	if (!s)
		return 0;
	if (store_ceiling_get(s, CEILING_EXECUTOR, executor, &ret->of[CEILING_EXECUTOR], err) < 0 ||
		store_ceiling_get(s, CEILING_PROJECT, project, &ret->of[CEILING_PROJECT], err) < 0)
		return -1;
	return 0;
}

int ceilings_check_stored(
	enum ceiling source, const char *subject, const struct limits *l, struct error *err)
{
	bool executor = source == CEILING_EXECUTOR;
	auto_free char *what = executor ? mem_printf("ceiling of executor %s", subject)
					: mem_strdup("project ceiling");

	if (ceiling_check(l, what, err) == 0)
		return 0;
	return error_set_remedy(err,
		"cloop limits clear%s%s takes it away, cloop limits set mends it",
		executor ? " --executor " : "", executor ? subject : "");
}

char *ceilings_render(const struct limits *l)
{
	auto_error struct error ignored = ERROR_INIT;

	return ceiling_check(l, "", &ignored) < 0 ? mem_strdup("broken") : render_ceiling(l);
}

int ceilings_check(const struct ceilings *c, const char *executor, struct error *err)
{
	if (ceiling_check(&c->of[CEILING_FLEET], "fleet ceiling", err) < 0 ||
		ceilings_check_stored(CEILING_EXECUTOR, executor, &c->of[CEILING_EXECUTOR], err) <
			0)
		return -1;
	return ceilings_check_stored(CEILING_PROJECT, "", &c->of[CEILING_PROJECT], err);
}

void ceilings_unheld(const struct limits *l, const struct candidate *able, const char *id,
	ceilings_unheld_fn *tell, void *data)
{
	struct effective_input in = {
		.ceilings = {[CEILING_EXECUTOR] = *l},
		.resource_limits = able->resource_limits,
		.pids_limit = able->pids_limit,
		.disk_enforcement = able->disk_enforcement,
	};
	struct effective e;

	effective_limits(&in, &e);
	for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
		if (!e.unenforced[r])
			continue;
		auto_free char *sentence = render_unenforced(r, id);
		tell(data, sentence);
	}
}

void ceilings_unheld_by(
	const struct limits *l, const struct executor *e, ceilings_unheld_fn *tell, void *data)
{
	struct candidate able = {0};

	if (executor_unavailable_reason(e))
		return;
	executor_capabilities(e, &able);
	ceilings_unheld(l, &able, e->id, tell, data);
}

/* ---- Changing ---- */

bool ceilings_any(const struct limits *l)
{
	for (enum resource r = 0; r < RESOURCE_COUNT; r++)
		if (resource_get(l, r) != 0)
			return true;
	return false;
}

static bool same(const struct limits *a, const struct limits *b)
{
	for (enum resource r = 0; r < RESOURCE_COUNT; r++)
		if (resource_get(a, r) != resource_get(b, r))
			return false;
	return true;
}

static struct limits merge(const struct limits *before, const struct ceilings_change *c)
{
	struct limits after = *before;

	for (enum resource r = 0; r < RESOURCE_COUNT; r++)
		if (c->given[r])
			resource_set(&after, r, resource_get(&c->limits, r));
	return after;
}

static json_t *amounts(const struct limits *l)
{
	return ceilings_any(l) ? effective_limits_to_json(l) : json_null();
}

static int note(struct store *s, const struct ceilings_change *c, const struct limits *before,
	const struct limits *now, struct error *err)
{
	const char *action = ceilings_any(now) ? "limits.set" : "limits.clear";
	auto_json *payload = json_pack("{s:o, s:o, s:o}", ceiling_text(c->source),
		json_from_string(c->subject), "before", amounts(before), "after", amounts(now));
	struct store_audit_event event = {.action = action,
		.entity = ceiling_text(c->source),
		.actor = c->actor,
		.payload = payload};

	if (store_audit_add(s, &event, err) < 0)
		return -1;
	if (c->source != CEILING_PROJECT)
		return 0;
	auto_free char *is = ceilings_render(now), *was = ceilings_render(before);
	auto_free char *message =
		mem_printf("the project's ceiling is %s (was: %s), set by %s", is, was, c->actor);
	struct store_event row = {.project = c->subject, .kind = action, .message = message};
	return store_journal_add(s, &row, err);
}

static int write_change(struct store *s, const struct ceilings_change *c, const struct limits *now,
	struct error *err)
{
	struct store_ceiling row = {
		.source = c->source,
		.subject = text_of(c->subject),
		.limits = *now,
		.set_by = text_of(c->actor),
	};

	if (!ceilings_any(now))
		return store_ceiling_drop(s, c->source, c->subject, err);
	if (c->source == CEILING_PROJECT && store_project_note(s, c->subject, err) < 0)
		return -1;
	return store_ceiling_put(s, &row, err);
}

int ceilings_change_within(
	struct store *s, const struct ceilings_change *c, struct limits *ret_now, struct error *err)
{
	struct limits before;

	if (store_ceiling_get(s, c->source, c->subject, &before, err) < 0)
		return -1;
	struct limits now = merge(&before, c);
	if (ceilings_any(&c->limits) && ceilings_check_stored(c->source, c->subject, &now, err) < 0)
		return -1;
	if (!same(&before, &now) &&
		(write_change(s, c, &now, err) < 0 || note(s, c, &before, &now, err) < 0))
		return -1;
	*ret_now = now;
	return same(&before, &now);
}

int ceilings_change(
	struct store *s, const struct ceilings_change *c, struct limits *ret_now, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	struct limits now;

	if (query_begin(s, &t, err) < 0)
		return -1;
	int r = ceilings_change_within(s, c, &now, err);
	if (r < 0 || query_commit(&t, err) < 0)
		return -1;
	*ret_now = now;
	return r;
}

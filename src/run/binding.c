#include "run/binding.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "store/audit.h"
#include "store/journal.h"
#include "store/project.h"
#include "store/query.h"

static void keep(void *data, const struct store_project *p)
{
	if (p->executor.p)
		*(char **)data = mem_strndup(p->executor.p, p->executor.len);
}

static int add_audit(
	struct store *s, const struct binding *b, const char *previous, struct error *err)
{
	auto_json *payload =
		json_pack("{s:o, s:o, s:o}", "project", json_from_string(b->project), "executor_id",
			json_from_string(b->executor), "previous", json_from_string(previous));
	struct store_audit_event event = {.action = "executor.bind",
		.entity = "project",
		.actor = b->actor,
		.payload = payload};

	return store_audit_add(s, &event, err);
}

static int add_journal(
	struct store *s, const struct binding *b, const char *previous, struct error *err)
{
	auto_free char *message =
		b->executor ? mem_printf("bound to executor %s by %s (before: %s)", b->executor,
				      b->actor, previous ? previous : "none")
			    : mem_printf("bound to no executor by %s (before: %s)", b->actor,
				      previous ? previous : "none");
	struct store_event event = {
		.project = b->project, .kind = "executor.bind", .message = message};

	return store_journal_add(s, &event, err);
}

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

int binding_set_within(
	struct store *s, const struct binding *b, char **ret_previous, struct error *err)
{
	auto_free char *previous = NULL;

	if (store_project_show(s, b->project, keep, &previous, err) < 0)
		return -1;
	if (!same(previous, b->executor) &&
		(store_project_bind(s, b->project, b->executor, err) < 0 ||
			add_audit(s, b, previous, err) < 0 || add_journal(s, b, previous, err) < 0))
		return -1;
	*ret_previous = TAKE_PTR(previous);
	return 0;
}

int binding_set(struct store *s, const struct binding *b, char **ret_previous, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	auto_free char *previous = NULL;

	if (query_begin(s, &t, err) < 0 || binding_set_within(s, b, &previous, err) < 0 ||
		query_commit(&t, err) < 0)
		return -1;
	*ret_previous = TAKE_PTR(previous);
	return 0;
}

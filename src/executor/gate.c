#include "executor/gate.h"

#include "base/json.h"
#include "base/mem.h"

static bool alternative(const struct gate *g, const struct candidate *c)
{
	struct rejection unused;

	return !text_equal(c->id, g->bound->id) && candidate_isolates(c) &&
	       check_candidate(g->policy, c, g->need, CHECK_ABILITY, &unused) == 0;
}

static int by_text(const void *a, const void *b)
{
	return text_compare(*(const struct text *)a, *(const struct text *)b);
}

/* Ids, sorted by bytes, into `ids` of g->n_registered entries; how many. */
static size_t find_alternatives(const struct gate *g, struct text *ids)
{
	size_t found = 0;

	for (size_t i = 0; i < g->n_registered; i++)
		if (alternative(g, &g->registered[i]))
			ids[found++] = g->registered[i].id;
	qsort(ids, found, sizeof(*ids), by_text);
	return found;
}

static json_t *ids_to_json(const struct text *ids, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, json_from_bytes(ids[i]));
	return array;
}

static void list_ids(struct str *out, const struct text *ids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		str_add_text(out, i ? ", " : "");
		text_escape(out, ids[i], 64);
	}
}

static int set_remedy(
	bool denied, enum constraint c, const struct text *ids, size_t n, struct error *err)
{
	AUTO(str) list = STR_INIT(ERROR_TEXT_MAX / 2);
	auto_free char *way = constraint_way_out(c);

	list_ids(&list, ids, n);
	if (denied && n > 0)
		return error_set_remedy(err,
			"bind the project to an isolated executor with cloop executor bind: %s",
			str_text(&list));
	if (denied)
		return error_set_remedy(err, "no registered executor isolates and can do this: set "
					     "one up (cloop config init), then bind the project");
	if (n > 0)
		return error_set_remedy(err, "cloop executor bind to one that can: %s; or %s",
			str_text(&list), way);
	return error_set_remedy(err, "no other registered executor can do this: %s", way);
}

static int refuse(const struct gate *g, const struct rejection *why, struct error *err)
{
	auto_free struct text *ids = mem_alloc(g->n_registered * sizeof(*ids));
	size_t found = find_alternatives(g, ids);
	const char *constraint = constraint_text(why->constraint);
	bool denied = constraint_denies_host(why->constraint) ||
		      (!candidate_isolates(g->bound) && constraint_wants_sandbox(why->constraint));

	error_set(err, denied ? ERROR_HOST_EXECUTION_DENIED : ERROR_SANDBOX_UNSUPPORTED,
		"executor %s does not take this project: %s: %s", quoted(g->bound->id), constraint,
		why->detail);
	error_add_detail(err, "constraint", json_string(constraint));
	error_add_detail(err, "alternatives", ids_to_json(ids, found));
	return set_remedy(denied, why->constraint, ids, found, err);
}

int gate_check(const struct gate *g, bool *ret_network_off_unproven, struct error *err)
{
	struct rejection why;

	if (check_candidate(g->policy, g->bound, g->need, CHECK_ABILITY, &why) != 0)
		return refuse(g, &why, err);
	*ret_network_off_unproven = g->need->network_off == REQUIREMENT_NETWORK_OFF_ANY &&
				    text_is(g->bound->network_off, "unproven");
	return 0;
}

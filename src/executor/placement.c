#include "executor/placement.h"

#include "base/json.h"
#include "base/mem.h"
#include "executor/build.h"

enum { MESSAGE_MAX = 64 * 1024 };

struct rejected {
	struct text id;
	struct rejection why;
};

/* No agent is newer than any build: nothing of it can be out of date. */
static int compare_builds(const struct candidate *a, const struct candidate *b)
{
	if (!a->agent || !b->agent)
		return (int)b->agent - (int)a->agent;
	return build_compare(a->build, b->build);
}

/* > 0: a is the better choice. A total order but for two candidates of the same id. */
static int compare(const struct candidate *a, const struct candidate *b)
{
	int64_t free_a = candidate_free_slots(a), free_b = candidate_free_slots(b);

	if (candidate_ready(a) != candidate_ready(b))
		return candidate_ready(a) ? 1 : -1;
	if (free_a != free_b)
		return free_a > free_b ? 1 : -1;
	if (candidate_isolates(a) != candidate_isolates(b))
		return candidate_isolates(a) ? 1 : -1;
	int builds = compare_builds(a, b);
	return builds != 0 ? builds : -text_compare(a->id, b->id);
}

/* The constraint that occurs most, ties to the alphabetically first. */
static enum constraint headline(const struct rejected *list, size_t n)
{
	size_t counts[CONSTRAINT_COUNT] = {0};
	enum constraint best = list[0].why.constraint;

	for (size_t i = 0; i < n; i++)
		counts[list[i].why.constraint]++;
	for (enum constraint c = 0; c < CONSTRAINT_COUNT; c++) {
		bool first = strcmp(constraint_text(c), constraint_text(best)) < 0;
		if (counts[c] > counts[best] || (counts[c] == counts[best] && first))
			best = c;
	}
	return best;
}

static int by_id(const void *a, const void *b)
{
	const struct rejected *x = a, *y = b;
	int order = text_compare(x->id, y->id);

	if (order != 0)
		return order;
	order = (int)x->why.constraint - (int)y->why.constraint;
	return order != 0 ? order : strcmp(x->why.detail, y->why.detail);
}

static json_t *rejections_to_json(const struct rejected *list, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array,
			json_pack("{s:o, s:s, s:s}", "executor_id", json_from_bytes(list[i].id),
				"constraint", constraint_text(list[i].why.constraint), "detail",
				list[i].why.detail));
	return array;
}

static int refuse_none(struct error *err)
{
	error_set(err, ERROR_NO_PLACEMENT, "no_candidates: no executor is configured");
	error_set_remedy(err, "cloop config init finds the engines of this host and enables them");
	error_add_detail(err, "constraint", json_string("no_candidates"));
	error_add_detail(err, "considered", json_integer(0));
	return error_add_detail(err, "rejections", json_array());
}

static int refuse_all(struct rejected *list, size_t n, struct error *err)
{
	AUTO(str) all = STR_INIT(MESSAGE_MAX);

	qsort(list, n, sizeof(*list), by_id);
	const char *constraint = constraint_text(headline(list, n));
	for (size_t i = 0; i < n; i++) {
		text_escape(&all, list[i].id, 64);
		str_addf(&all, ": %s%s", list[i].why.detail, i + 1 < n ? "; " : "");
	}
	error_set(err, ERROR_NO_PLACEMENT, "%s: none of %zu executors takes this workload: %s",
		constraint, n, str_text(&all));
	error_add_detail(err, "constraint", json_string(constraint));
	error_add_detail(err, "considered", json_integer((json_int_t)n));
	return error_add_detail(err, "rejections", rejections_to_json(list, n));
}

int placement_choose(const struct check_policy *policy, const struct candidate *c, size_t n,
	const struct requirement *need, const struct candidate **ret, struct error *err)
{
	auto_free struct rejected *rejected = mem_alloc(n * sizeof(*rejected));
	const struct candidate *best = NULL;

	if (n == 0)
		return refuse_none(err);
	for (size_t i = 0; i < n; i++) {
		rejected[i].id = c[i].id;
		if (check_candidate(policy, &c[i], need, CHECK_EVERYTHING, &rejected[i].why) == 0 &&
			(!best || compare(&c[i], best) > 0))
			best = &c[i];
	}
	if (!best)
		return refuse_all(rejected, n, err);
	*ret = best;
	return 0;
}

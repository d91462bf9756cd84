#include "executor/placement.h"

#include "base/json.h"
#include "base/mem.h"
#include "executor/build.h"

/* A message is cut: what comes behind that needs no words. */
enum { MESSAGE_MAX = ERROR_TEXT_MAX + 2 * CHECK_DETAIL_MAX };

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

static int set_remedy(enum constraint c, struct error *err)
{
	auto_free char *way = constraint_way_out(c);

	return error_set_remedy(
		err, "%s; cloop executor list shows which executors there are", way);
}

static int refuse_all(const struct rejected *list, size_t n, struct error *err)
{
	AUTO(str) all = STR_INIT(MESSAGE_MAX);
	enum constraint first = headline(list, n);
	const char *constraint = constraint_text(first);

	for (size_t i = 0; i < n && all.len <= ERROR_TEXT_MAX; i++) {
		text_escape(&all, list[i].id, 64);
		str_addf(&all, ": %s%s", list[i].why.detail, i + 1 < n ? "; " : "");
	}
	error_set(err, ERROR_NO_PLACEMENT, "%s: none of %zu executors takes this workload: %s",
		constraint, n, str_text(&all));
	error_add_detail(err, "constraint", json_string(constraint));
	error_add_detail(err, "considered", json_integer((json_int_t)n));
	error_add_detail(err, "rejections", rejections_to_json(list, n));
	return set_remedy(first, err);
}

struct question {
	const struct check_policy *policy;
	const struct candidate *c;
	size_t n;
	const struct requirement *need;
};

/* Who does not take it into `list` of q->n entries; how many. *ret_best: NULL = nobody does. */
static size_t judge(
	const struct question *q, struct rejected *list, const struct candidate **ret_best)
{
	size_t rejected = 0;

	*ret_best = NULL;
	for (size_t i = 0; i < q->n; i++) {
		const struct candidate *c = &q->c[i];
		list[rejected].id = c->id;
		if (check_candidate(q->policy, c, q->need, CHECK_EVERYTHING, &list[rejected].why) !=
			0)
			rejected++;
		else if (!*ret_best || compare(c, *ret_best) > 0)
			*ret_best = c;
	}
	return rejected;
}

int placement_choose(const struct check_policy *policy, const struct candidate *c, size_t n,
	const struct requirement *need, const struct candidate **ret, struct error *err)
{
	const struct question q = {policy, c, n, need};
	auto_free struct rejected *rejected = mem_alloc(n * sizeof(*rejected));
	const struct candidate *best;

	if (n == 0)
		return refuse_none(err);
	judge(&q, rejected, &best);
	if (!best) {
		qsort(rejected, n, sizeof(*rejected), by_id);
		return refuse_all(rejected, n, err);
	}
	*ret = best;
	return 0;
}

json_t *placement_rejections(const struct check_policy *policy, const struct candidate *c, size_t n,
	const struct requirement *need)
{
	const struct question q = {policy, c, n, need};
	auto_free struct rejected *rejected = mem_alloc(n * sizeof(*rejected));
	const struct candidate *best;
	size_t found = judge(&q, rejected, &best);

	qsort(rejected, found, sizeof(*rejected), by_id);
	return rejections_to_json(rejected, found);
}

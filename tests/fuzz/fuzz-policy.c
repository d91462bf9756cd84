/*
 * Lines: references, then entries. An entry's normal form is an entry, and its own normal form.
 * More entries in a list that is not empty never refuse what was allowed; a require_ flag never
 * allows more; an allowed image is allowed again as what it runs as.
 */
#include <assert.h>
#include <string.h>

#include "image/harness.h"
#include "image/policy-entry.h"
#include "image/verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ENTRIES_MAX = 64 };

typedef enum problem_code judge_entry(struct text t, struct policy_entry *ret);

/* Adds a valid entry in normal form. */
static void consider(struct strv *list, judge_entry *judge, struct text t)
{
	struct policy_entry e, again;

	if (t.len == 0 || t.len > IMAGE_TEXT_MAX || judge(t, &e) != PROBLEM_NONE)
		return;
	assert(strlen(e.text) < POLICY_ENTRY_SIZE && e.text[0]);
	enum problem_code code = judge(text_of(e.text), &again);
	assert(code == PROBLEM_NONE && strcmp(e.text, again.text) == 0);
	assert(e.registry_len == again.registry_len);
	if (list)
		(void)!strv_add(list, e.text);
}

static bool allowed(const struct image_policy *p, struct text image)
{
	struct image_verdict v, again;

	image_verdict(p, IMAGE_ORIGIN_PROJECT, image, &v);
	assert(v.allowed == (v.rule == IMAGE_RULE_NONE) && v.allowed == (v.run_as[0] != '\0'));
	assert(v.allowed || (v.reason[0] && v.remedy[0]));
	if (v.allowed) {
		image_verdict(p, IMAGE_ORIGIN_PROJECT, text_of(v.run_as), &again);
		assert(again.allowed && strcmp(again.run_as, v.run_as) == 0);
	}
	return v.allowed;
}

static void drop_last(struct strv *list)
{
	if (list->n < 2)
		return;
	free(list->v[--list->n]);
	list->v[list->n] = NULL;
}

static void check(struct image_policy *p, struct text image)
{
	image_policy_index(p);
	bool before = allowed(p, image);
	p->require_digest = true;
	assert(!allowed(p, image) || before);
	p->require_digest = false;
	p->require_signature = true;
	assert(!allowed(p, image) || before);
	p->require_signature = false;
	drop_last(&p->allowed_registries.items);
	drop_last(&p->allowed_repos.items);
	image_policy_index(p);
	assert(!allowed(p, image) || before);
}

static void check_label(struct text label)
{
	AUTO(strv) names = HARNESS_NAMES_INIT;
	enum harness_result r = harness_judge(label, "claude", &names);

	assert((r == HARNESS_ABSENT) == (names.n == 0));
	assert((r == HARNESS_OK) == strv_has(&names, "claude"));
	strv_foreach (name, &names)
		assert(text_all_word(text_of(*name), "._-") && strlen(*name) <= HARNESS_NAME_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(image_policy)
	p = {.allowed_registries = {.items = STRV_INIT(ENTRIES_MAX)},
		.allowed_repos = {.items = STRV_INIT(ENTRIES_MAX)}};
	struct text rest = {(const char *)data, size}, image, line;

	check_label(rest);
	if (!text_split(&rest, '\n', &image))
		return 0;
	while (text_split(&rest, '\n', &line)) {
		consider(&p.allowed_registries.items, policy_entry_registry, line);
		consider(&p.allowed_repos.items, policy_entry_repo, line);
		consider(NULL, policy_entry_host, line);
		consider(NULL, policy_entry_loopback, line);
		(void)policy_entry_issuer(line);
		(void)policy_entry_key(line);
	}
	check(&p, image);
	return 0;
}

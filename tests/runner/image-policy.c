/* Kinds of the image policy: policy, check. */
#include "runner/case.h"

#include "image/verdict.h"
#include "runner/judged.h"

static json_t *to_json(const struct problems *list)
{
	json_t *all = json_array();

	for (size_t i = 0; i < list->n; i++)
		json_array_append_new(all,
			json_pack("{s:s, s:s}", "path", list->v[i].path, "code", list->v[i].code));
	return all;
}

/* Every wanted problem is among those that were found. */
static bool all_found(json_t *wanted, json_t *got)
{
	json_t *w, *g;
	size_t i, k;

	json_array_foreach(wanted, i, w)
	{
		bool found = false;
		json_array_foreach(got, k, g) found = found || json_equal(w, g);
		if (!found)
			return false;
	}
	return true;
}

static void run_policy(json_t *c, struct case_result *r)
{
	AUTO(judged) j;
	json_t *expect = json_object_get(c, "expect");

	judged_policy(c, &j);
	json_t *errors = to_json(&j.errors), *warnings = to_json(&j.warnings);
	bool ok = j.errors.n == 0;
	r->got = json_pack("{s:b, s:o, s:o}", "ok", ok, "errors", errors, "warnings", warnings);
	r->ok = all_found(json_object_get(expect, "errors"), errors) &&
		all_found(json_object_get(expect, "warnings"), warnings) &&
		ok == !json_object_get(expect, "errors");
}

static void run_check(json_t *c, struct case_result *r)
{
	AUTO(judged) j;
	auto_error struct error err = ERROR_INIT;
	struct text image = json_get_text(c, "ref");
	struct image_verdict v;

	judged_policy(c, &j);
	if (j.errors.n > 0) {
		error_set(&err, ERROR_CONFIG_INVALID, "%s", j.errors.v[0].message);
		image_verdict_broken(image, &err, &v);
	} else {
		image_verdict(&j.policy, IMAGE_ORIGIN_PROJECT, image, &v);
	}
	case_subset(r, c,
		json_pack("{s:b, s:s, s:s, s:b, s:b}", "allowed", v.allowed, "rule",
			image_rule_text(v.rule), "run_as", v.run_as, "needs_pin", v.needs_pin,
			"needs_signature", v.needs_signature));
}

static const char *const policy_fields[] = {"policy", NULL};
static const char *const check_fields[] = {"policy", "ref", NULL};

const struct case_kind case_image_policy_kinds[] = {
	{"policy", policy_fields, run_policy},
	{"check", check_fields, run_check},
	{0},
};

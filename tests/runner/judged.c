#include "runner/judged.h"

#include "image/policy-keys.h"
#include "runner/tree.h"

void judged_done(struct judged *j)
{
	image_policy_done(&j->policy);
	problems_done(&j->errors);
	problems_done(&j->warnings);
}

void judged_policy(json_t *object, struct judged *ret)
{
	AUTO(tree) tree = TREE_INIT;
	json_t *section = json_object_get(object, "policy");

	*ret = (struct judged){.errors = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX),
		.warnings = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX)};
	struct schema_bind b = {.errors = &ret->errors, .warnings = &ret->warnings, .tree = &tree};
	if (section)
		tree_of_json(section, &tree);
	schema_bind_document(&b, &image_policy_schema, &ret->policy);
	problems_finish(&ret->errors);
	problems_finish(&ret->warnings);
}

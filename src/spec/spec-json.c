#include "spec/spec-json.h"

#include "base/json.h"
#include "limits/effective.h"
#include "spec/requirement.h"

static json_t *list_or_null(const struct schema_list *l)
{
	return l->given ? json_from_strings(l->items.v, l->items.n) : json_null();
}

json_t *spec_json_text(const char *s)
{
	return json_from_string(s && s[0] ? s : NULL);
}

static json_t *capabilities(const struct spec_capabilities *c)
{
	return json_pack("{s:b, s:o, s:b, s:b, s:o, s:o, s:o}", "git", c->git, "network",
		spec_json_text(c->network), "virtualized", c->virtualized, "kernel_isolated",
		c->kernel_isolated, "egress", spec_json_text(c->egress), "devices",
		list_or_null(&c->devices), "interfaces", list_or_null(&c->interfaces));
}

json_t *spec_json_mounts(const struct spec_mount *mounts, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list,
			json_pack("{s:o, s:o, s:b}", "source", json_from_string(mounts[i].source),
				"target", json_from_string(mounts[i].target), "read_only",
				mounts[i].read_only));
	return list;
}

json_t *spec_json(const struct sandbox_spec *s)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "image", spec_json_text(s->image),
		"setup", json_from_strings(s->setup.items.v, s->setup.items.n), "env",
		list_or_null(&s->env), "resources", effective_limits_to_json(&s->resources),
		"capabilities", capabilities(&s->capabilities), "mounts",
		spec_json_mounts(s->mounts.v, s->mounts.n));
}

static json_t *requirements(const struct spec_result *r)
{
	AUTO(requirement) need = {0};
	AUTO(strv) names = STRV_INIT(REQUIREMENT_NAMES_MAX);

	if (r->ok && r->present)
		requirement_of(&r->spec, NULL, &need);
	requirement_names(&need, &names);
	return json_from_strings(names.v, names.n);
}

json_t *spec_json_check(const struct spec_result *r)
{
	json_t *o =
		json_pack("{s:b, s:b, s:s}", "ok", r->ok, "present", r->present, "path", SPEC_PATH);

	if (r->ok)
		json_object_set_new(o, "spec", spec_json(&r->spec));
	json_object_set_new(o, "sha256", spec_json_text(r->sha256));
	json_object_set_new(o, "setup_sha256", spec_json_text(r->setup_sha256));
	json_object_set_new(o, "errors", problems_to_json(&r->errors));
	json_object_set_new(o, "warnings", problems_to_json(&r->warnings));
	json_object_set_new(o, "requirements", requirements(r));
	return o;
}

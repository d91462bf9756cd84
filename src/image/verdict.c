#include "image/verdict.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/enum-text.h"
#include "base/json.h"

enum { SHOWN_REGISTRIES = 5, SHOWN_BYTES = 128 };

static const char *const origin_names[] = {
	[IMAGE_ORIGIN_PROJECT] = "project",
	[IMAGE_ORIGIN_OPERATOR] = "operator",
	[IMAGE_ORIGIN_PUBLISHED] = "published",
};
ENUM_TEXT(image_origin, origin_names, IMAGE_ORIGIN_COUNT)

static const char *const rule_names[] = {
	[IMAGE_RULE_NONE] = "",
	[IMAGE_RULE_POLICY_CONFIGURATION] = "policy-configuration",
	[IMAGE_RULE_REFERENCE_SYNTAX] = "reference-syntax",
	[IMAGE_RULE_UNQUALIFIED_REFERENCE] = "unqualified-reference",
	[IMAGE_RULE_REGISTRY_ALLOWLIST] = "registry-allowlist",
	[IMAGE_RULE_REPOSITORY_ALLOWLIST] = "repository-allowlist",
	[IMAGE_RULE_DIGEST_REQUIRED] = "digest-required",
	[IMAGE_RULE_DIGEST_RESOLUTION] = "digest-resolution",
	[IMAGE_RULE_SIGNATURE_REQUIRED] = "signature-required",
};
static_assert(ARRAY_SIZE(rule_names) == IMAGE_RULE_COUNT, "a name for every rule");

const char *image_rule_text(enum image_rule rule)
{
	return rule_names[rule];
}

bool image_verdict_governs(const struct image_policy *p, enum image_origin origin)
{
	return origin == IMAGE_ORIGIN_PROJECT ||
	       (origin == IMAGE_ORIGIN_OPERATOR && p->govern_operator_images);
}

/* ---- Refusals ---- */

static void refuse(struct image_verdict *v, enum image_rule rule, const char *fmt, ...)
	printf_like(3, 4);
static void refuse(struct image_verdict *v, enum image_rule rule, const char *fmt, ...)
{
	va_list ap;

	v->rule = rule;
	va_start(ap, fmt);
	vsnprintf(v->reason, sizeof(v->reason), fmt, ap);
	va_end(ap);
}

static void remedy(struct image_verdict *v, const char *fmt, ...) printf_like(2, 3);
static void remedy(struct image_verdict *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(v->remedy, sizeof(v->remedy), fmt, ap);
	va_end(ap);
}

static void refuse_error(struct image_verdict *v, enum image_rule rule, const struct error *why)
{
	refuse(v, rule, "%s", why->message);
	remedy(v, "%s", error_remedy(why));
}

static void refuse_syntax(struct image_verdict *v, const struct error *why)
{
	v->ref = (struct image_reference){.qualified = false};
	v->detail = error_code_text(why->code);
	refuse_error(v, IMAGE_RULE_REFERENCE_SYNTAX, why);
}

static void refuse_unqualified(struct image_verdict *v)
{
	auto_error struct error ignored = ERROR_INIT;
	struct image_reference hub = v->ref;
	char full[IMAGE_TEXT_MAX + 1];

	if (image_reference_qualify(&hub, "docker.io", (struct text){NULL, 0}, &ignored) < 0)
		hub = v->ref;
	image_reference_render(&hub, full);
	refuse(v, IMAGE_RULE_UNQUALIFIED_REFERENCE,
		"it names no registry, so that it is not known whose image it is");
	remedy(v,
		"write it in full, such as %s, or ask the operator to set "
		"sandbox.image_policy.default_registry",
		full);
}

/* The first entries of allowed_registries. */
static void list_registries(const struct image_policy *p, struct str *out)
{
	const struct strv *l = &p->allowed_registries.items;

	for (size_t i = 0; i < l->n && i < SHOWN_REGISTRIES; i++)
		str_addf(out, "%s%s", i ? ", " : "", l->v[i]);
	if (l->n > SHOWN_REGISTRIES)
		str_addf(out, " and %zu more", l->n - SHOWN_REGISTRIES);
}

static void refuse_registry(struct image_verdict *v, const struct image_policy *p)
{
	AUTO(str) allowed = STR_INIT(ERROR_TEXT_MAX / 2);

	list_registries(p, &allowed);
	refuse(v, IMAGE_RULE_REGISTRY_ALLOWLIST,
		"the registry %s is not in sandbox.image_policy.allowed_registries",
		v->ref.registry);
	remedy(v, "publish it to an allowed registry (%s), or ask the operator to add %s",
		str_text(&allowed), v->ref.registry);
}

static void refuse_repository(struct image_verdict *v)
{
	char name[IMAGE_TEXT_MAX + 1];

	image_reference_name(&v->ref, name);
	refuse(v, IMAGE_RULE_REPOSITORY_ALLOWLIST,
		"the repository %s is not in sandbox.image_policy.allowed_repos", name);
	remedy(v, "ask the operator to add %s, or use an image of an allowed repository", name);
}

static void refuse_tag(struct image_verdict *v)
{
	char name[IMAGE_TEXT_MAX + 1];
	const char *tag = image_reference_tag(&v->ref);

	image_reference_name(&v->ref, name);
	refuse(v, IMAGE_RULE_DIGEST_REQUIRED,
		"it carries no digest, and sandbox.image_policy.require_digest is set: the tag %s "
		"may move",
		tag);
	if (strcmp(v->ref.registry, "localhost") == 0)
		remedy(v, "an image of localhost gets a digest when it is pushed: push it to an "
			  "allowed registry and write the line `image: NAME@sha256:...`");
	else
		remedy(v,
			"run cloop image resolve %s:%s and write the line `image: %s@sha256:...` "
			"with the "
			"digest it shows",
			name, tag, name);
}

/* ---- The verdict ---- */

static const struct image_policy nothing = {.default_registry = NULL};

static bool has_default(const struct image_policy *p)
{
	return p->default_registry && *p->default_registry;
}

static bool pass_name(const struct image_policy *p, struct text image, struct image_verdict *v)
{
	auto_error struct error err = ERROR_INIT;

	if (image_reference_parse(image, &v->ref, &err) < 0 ||
		(!*v->ref.registry && has_default(p) &&
			image_reference_qualify(&v->ref, p->default_registry, image, &err) < 0)) {
		refuse_syntax(v, &err);
		return false;
	}
	if (!*v->ref.registry && v->policy_active) {
		refuse_unqualified(v);
		return false;
	}
	return true;
}

static bool pass_rules(const struct image_policy *p, struct image_verdict *v)
{
	if (!image_policy_admits_registry(p, v->ref.registry))
		refuse_registry(v, p);
	else if (!image_policy_admits_repository(p, &v->ref))
		refuse_repository(v);
	else if (p->require_digest && !*v->ref.digest)
		refuse_tag(v);
	return v->rule == IMAGE_RULE_NONE;
}

/* Without touching the long texts: a refusal fills them. */
static void begin(struct image_verdict *v)
{
	v->allowed = v->needs_pin = v->needs_signature = v->policy_active = false;
	v->rule = IMAGE_RULE_NONE;
	v->reason[0] = v->remedy[0] = v->run_as[0] = '\0';
	v->detail = "";
}

void image_verdict(const struct image_policy *p, enum image_origin origin, struct text image,
	struct image_verdict *ret)
{
	const struct image_policy *rules = image_verdict_governs(p, origin) ? p : &nothing;

	begin(ret);
	ret->policy_active = image_policy_active(rules);
	if (!pass_name(rules, image, ret) || (ret->policy_active && !pass_rules(rules, ret)))
		return;
	ret->allowed = true;
	ret->needs_pin = !*ret->ref.digest;
	ret->needs_signature = rules->require_signature;
	image_reference_run_as(&ret->ref, ret->run_as);
}

void image_verdict_broken(struct text image, const struct error *why, struct image_verdict *ret)
{
	auto_error struct error ignored = ERROR_INIT;

	begin(ret);
	if (image_reference_parse(image, &ret->ref, &ignored) < 0)
		ret->ref = (struct image_reference){.qualified = false};
	refuse_error(ret, IMAGE_RULE_POLICY_CONFIGURATION, why);
}

json_t *image_verdict_to_json(const struct image_verdict *v, struct text image)
{
	json_t *j = json_pack("{s:o, s:b, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:b}",
		"image", json_from_bytes(image), "allowed", v->allowed, "rule",
		image_rule_text(v->rule), "reason", v->reason, "remediation", v->remedy, "registry",
		v->ref.registry, "repository", v->ref.repository, "tag", v->ref.tag, "digest",
		v->ref.digest, "run_as", v->run_as, "needs_pin", v->needs_pin, "needs_signature",
		v->needs_signature, "policy_active", v->policy_active);

	if (v->detail[0])
		json_object_set_new(j, "detail", json_string(v->detail));
	return j;
}

int image_verdict_error(const struct image_verdict *v, enum image_origin origin, struct text image,
	struct error *err)
{
	AUTO(str) shown = STR_INIT(ERROR_TEXT_MAX);
	bool syntax = v->rule == IMAGE_RULE_REFERENCE_SYNTAX;

	text_quote(&shown, image, SHOWN_BYTES);
	error_set(err, syntax ? ERROR_SANDBOX_INVALID_SPEC : ERROR_SANDBOX_IMAGE_DENIED,
		"image %s is refused (rule: %s): %s", str_text(&shown), image_rule_text(v->rule),
		v->reason);
	error_set_remedy(err, "%s", v->remedy);
	return image_verdict_details(v, origin, image, err);
}

int image_verdict_details(const struct image_verdict *v, enum image_origin origin,
	struct text image, struct error *err)
{
	error_add_detail(err, "rule", json_string(image_rule_text(v->rule)));
	error_add_detail(err, "image", json_from_bytes(image));
	error_add_detail(err, "registry", json_string(v->ref.registry));
	error_add_detail(err, "repository", json_string(v->ref.repository));
	error_add_detail(err, "origin", json_string(image_origin_text(origin)));
	if (*v->detail)
		error_add_detail(err, "detail", json_string(v->detail));
	return -1;
}

int image_verdict_pass(const struct image_policy *p, enum image_origin origin, struct text image,
	struct image_verdict *ret, struct error *err)
{
	image_verdict(p, origin, image, ret);
	return ret->allowed ? 0 : image_verdict_error(ret, origin, image, err);
}

void image_verdict_refuse(struct image_verdict *v, enum image_rule rule, const char *detail,
	const char *reason, const char *fix)
{
	v->allowed = false;
	v->run_as[0] = '\0';
	v->detail = detail;
	refuse(v, rule, "%s", reason);
	remedy(v, "%s", fix);
}
